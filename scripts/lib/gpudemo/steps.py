# SPDX-License-Identifier: MIT
"""The steps of scripts/gpu-demo: make a checkout, mount it, run programs in it, compare."""
import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.normpath(os.path.join(HERE, '..', '..', '..'))
BACKEND = os.path.join(TREE, 'tests/trees/gpu-demo')
STANDARD = 'language/standard.py'
MOUNT_LIMIT_SEC = 30
CHILD_LIMIT_SEC = 240

# The one line of the trunk's language/standard.py that the demo backend has otherwise: the same
# value from another sequence of operations, so that the compiled code tells which one it is.
CDIV = 'def cdiv('
CDIV_RESULT = '    return (x + (div - 1) - (x + (div - 1)) % div) // div\n'


class DemoError(Exception):
    """A step that could not be done, and why."""


def step(text):
    print(f'\n== {text}', flush=True)


def say(text):
    print(f'   {text}', flush=True)


def tail(text, lines=25):
    return '\n'.join('   | ' + line for line in text.rstrip().splitlines()[-lines:])


# ------------------------------------------------------------------ the machine


def first_line(path):
    try:
        with open(path, encoding='utf-8') as f:
            return f.readline().strip()
    except OSError as e:
        return e.strerror


def has_user_xattr(directory):
    try:
        with tempfile.NamedTemporaryFile(dir=directory) as f:
            os.setxattr(f.name, 'user.specfs.test', b'1')
        return True
    except OSError:
        return False


def describe_machine():
    """Say what everything hangs on; DemoError if a mount cannot work here."""
    say(f'kernel {os.uname().release}, glibc {os.confstr("CS_GNU_LIBC_VERSION")}, '
        f'{os.cpu_count()} cores, uid {os.geteuid()}, Python {sys.version.split()[0]} '
        f'at {sys.executable}')
    if not os.access('/dev/fuse', os.R_OK | os.W_OK):
        raise DemoError('/dev/fuse is missing or cannot be used, expected a kernel with FUSE')
    say(f'/dev/fuse is there; {first_line("/proc/version")[:100]}')
    if os.geteuid() and not shutil.which('fusermount3'):
        raise DemoError('fusermount3 is missing, which mounts for an ordinary user; or be root')


def work_directory(wanted):
    """A new directory on a file system with user xattrs, which scratch needs."""
    candidates = [wanted] if wanted else [tempfile.gettempdir(), '/var/tmp',
                                          os.path.expanduser('~'), '/dev/shm']
    for base in candidates:
        if wanted:
            os.makedirs(wanted, exist_ok=True)
        if os.access(base, os.W_OK) and has_user_xattr(base):
            work = os.path.realpath(tempfile.mkdtemp(prefix='specfs-gpu-demo-', dir=base))
            say(f'working in {work}, {shutil.disk_usage(work).free >> 30} GiB free')
            return work
    raise DemoError(f'none of {", ".join(candidates)} can be written and has user xattrs')


# ------------------------------------------------------------------ the checkout


def specialize_standard(text):
    """The trunk's language/standard.py as the demo backend has it."""
    start = text.find(CDIV)
    result = text.find('\n    return ', start) + 1
    end = text.find('\n', result) + 1
    if start < 0 or not result or 'def ' in text[start + len(CDIV):result]:
        raise DemoError(f'this Triton\'s {STANDARD} has no "{CDIV}" with a return as expected')
    say(f'its cdiv: {text[result:end].strip()!r} becomes {CDIV_RESULT.strip()!r}')
    return (text[:result] + CDIV_RESULT + text[end:] + "\n\nSPECIALIZED_FOR = 'demo'\n")


def make_checkout(work):
    """The installed Triton's package as trunk, our backend beside it; its path."""
    spec = importlib.util.find_spec('triton')
    if not spec or not spec.origin:
        raise DemoError('this Python has no triton package')
    package, root = os.path.dirname(spec.origin), os.path.join(work, 'checkout')
    trunk = os.path.join(root, 'python/triton')
    for name in ('_flagtree_spec.py', '_flagtree_backend.py', 'spec', 'FLAGTREE_BACKEND'):
        if os.path.exists(os.path.join(package, name)):
            raise DemoError(f'{package} has {name}, expected a Triton without FlagTree\'s files')
    say(f'trunk: {package} copied to {trunk}')
    start = time.monotonic()
    shutil.copytree(package, trunk, symlinks=True, ignore=shutil.ignore_patterns('__pycache__'))
    say(f'{sum(len(f) for _, _, f in os.walk(trunk))} files in {time.monotonic() - start:.1f} s')

    shutil.copytree(BACKEND, root, dirs_exist_ok=True)
    os.rename(os.path.join(root, 'specfs.ini'), os.path.join(root, '.specfs.ini'))
    with open(os.path.join(trunk, STANDARD), encoding='utf-8') as f:
        text = specialize_standard(f.read())
    whole = os.path.join(root, 'third_party/demo/spec/triton', STANDARD)
    with open(whole, 'w', encoding='utf-8') as f:
        f.write(text)
    for base, _, names in os.walk(os.path.join(root, 'third_party')):
        for name in names:
            say('backend: ' + os.path.relpath(os.path.join(base, name), root))
    return root


def fingerprint(root):
    """Of all the checkout's files but byte code: names, sizes, times, contents of small ones."""
    h = hashlib.sha256()
    for base, dirs, names in sorted(os.walk(root)):
        dirs[:] = sorted(d for d in dirs if d != '__pycache__')
        for name in sorted(names):
            path = os.path.join(base, name)
            st = os.lstat(path)
            h.update(f'{path} {st.st_mode} {st.st_size} {st.st_mtime_ns}'.encode())
            if os.path.isfile(path) and st.st_size < 1 << 20:
                with open(path, 'rb') as f:
                    h.update(f.read())
    return h.hexdigest()


# ------------------------------------------------------------------ the mount


class Mount:
    """The checkout mounted for the demo backend, in a daemon that is our child."""

    def __init__(self, program, env, root, work):
        self.program, self.env = program, {**os.environ, **env}
        self.root, self.at = root, root + '-demo'
        self.log = os.path.join(work, 'daemon.log')
        self.argv = [program, 'mount', '-f', '-b', 'demo', '-s', os.path.join(work, 'scratch'),
                     root, self.at]
        self.daemon = None

    def specfs(self, *words, ok=(0, )):
        p = subprocess.run([self.program, *words], env=self.env, capture_output=True, text=True)
        if p.returncode not in ok:
            raise DemoError(f'specfs {" ".join(words)}: exit status {p.returncode}\n'
                            + tail(p.stdout + p.stderr))
        return p.stdout

    def __enter__(self):
        os.makedirs(self.at)
        say(' '.join(self.argv))
        with open(self.log, 'w', encoding='utf-8') as log:
            self.daemon = subprocess.Popen(self.argv, env=self.env, stdin=subprocess.DEVNULL,
                                           stdout=log, stderr=log)
        end = time.monotonic() + MOUNT_LIMIT_SEC
        while not os.path.ismount(self.at):
            if self.daemon.poll() is not None or time.monotonic() > end:
                status = self.daemon.poll()
                self.__exit__()
                what = 'no mount yet' if status is None else f'exit status {status}'
                raise DemoError(f'specfs mount: {what}\n' + self.log_tail())
            time.sleep(0.01)
        return self

    def log_tail(self):
        with open(self.log, encoding='utf-8', errors='replace') as f:
            return tail(f.read())

    def __exit__(self, *_failure):
        if os.path.ismount(self.at):
            p = subprocess.run([self.program, 'umount', self.at], env=self.env,
                               capture_output=True, text=True)
            if p.returncode:
                say(f'specfs umount: exit status {p.returncode}\n{tail(p.stderr)}')
                subprocess.run(['umount', '-l', self.at])
        try:
            self.daemon.wait(30)
        except subprocess.TimeoutExpired:
            say('the daemon still runs 30 s after the unmount: killed')
            self.daemon.kill()
            self.daemon.wait()


# ------------------------------------------------------------------ programs


def run_child(tree, cache, *words):
    """Run child.py with the Triton of @tree and the kernels of @tree; what it tells."""
    path = [os.path.join(tree, 'python'), os.environ.get('PYTHONPATH', '')]
    env = {**os.environ, 'PYTHONPATH': os.pathsep.join(filter(None, path)),
           'TRITON_CACHE_DIR': cache}
    argv = [sys.executable, os.path.join(HERE, 'child.py'), os.path.join(tree, 'examples'), *words]
    try:
        p = subprocess.run(argv, env=env, capture_output=True, text=True, cwd=tree,
                           timeout=CHILD_LIMIT_SEC)
    except subprocess.TimeoutExpired as e:
        raise DemoError(f'{" ".join(argv)}: still running after {CHILD_LIMIT_SEC} s\n'
                        + tail((e.stderr or b'').decode(errors='replace'))) from None
    finally:
        shutil.rmtree(cache, ignore_errors=True)
    if p.returncode:
        raise DemoError(f'PYTHONPATH={env["PYTHONPATH"]} {" ".join(argv)}: exit status '
                        f'{p.returncode}\n{tail(p.stdout)}\n{tail(p.stderr, 40)}')
    return json.loads(p.stdout.splitlines()[-1])
