# SPDX-License-Identifier: MIT
"""Checks, files and programs for tests: everything that needs no mount.

Nothing here sleeps for a fixed time: `wait_for` polls a condition up to a limit.
"""
import functools
import os
import shutil
import signal
import subprocess
import time

LIMIT_SEC = 60.0  # what never comes is told late; what comes late on a busy machine is no fault


class Skip(Exception):
    """This test cannot run here; the text says why."""


# ------------------------------------------------------------------ checks


def equal(got, want, what):
    """Fail unless got == want; @what names the thing compared."""
    if got != want:
        raise AssertionError(f'{what}\n    expected: {want!r}\n    got:      {got!r}')


def true(value, what):
    """Fail unless @value is true; @what says what was expected."""
    if not value:
        raise AssertionError(what)


def fails(errno_wanted, call, *args, **kw):
    """Fail unless call(*args, **kw) raises OSError with that errno."""
    name = getattr(call, '__name__', str(call))
    try:
        call(*args, **kw)
    except OSError as e:
        equal(e.errno, errno_wanted, f'errno of {name}{args}')
        return
    raise AssertionError(
        f'{name}{args} succeeded, expected errno {errno_wanted} ({os.strerror(errno_wanted)})')


def _state(task):
    try:
        with open(f'{task}/stat', encoding='ascii', errors='replace') as f:
            return f.read().rpartition(')')[2].split()[0]
    except FileNotFoundError:  # it has just ended
        return 'T'


def stop(pid):
    """Stop a process, and return when all of its threads stand still: that takes its time."""
    os.kill(pid, signal.SIGSTOP)
    tasks = f'/proc/{pid}/task'
    wait_for(lambda: all(_state(f'{tasks}/{t}') == 'T' for t in os.listdir(tasks)),
             f'process {pid} stands still')


def wait_for(condition, what, limit_sec=LIMIT_SEC):
    """Poll @condition until it is true and return its value; fail after @limit_sec naming @what."""
    end = time.monotonic() + limit_sec
    pause = 0.001
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() >= end:
            raise AssertionError(f'{what}: not within {limit_sec:g} s')
        time.sleep(pause)
        pause = min(pause * 2, 0.1)


def unmount(path, *way):
    """`umount`, or another @way; who looks through all processes keeps each mount for a moment."""
    argv = [*(way or ['umount']), path]
    wait_for(lambda: subprocess.run(argv, stderr=subprocess.DEVNULL, check=False).returncode == 0,
             f'{argv}')


class Slow(AssertionError):
    """What was measured took too long."""


def fast(value, what):
    """true() of a time that was measured."""
    if not value:
        raise Slow(what)


def measurement(test):
    """Decorator of a test that measures time: whoever else works on this machine may spoil one, so
    it fails if it is not fast() three times over, from the start; or whatever else fails, once."""

    @functools.wraps(test)
    def repeat():
        for left in (2, 1, 0):
            try:
                test()
                return
            except Slow as e:
                if not left:
                    raise
                print(f'{test.__name__}, once more: {e}', flush=True)

    return repeat


class Problems:
    """Collects many differences, so that one run shows all of them."""
    def __init__(self):
        self.lines = []

    def add(self, path, want, got):
        self.lines.append(f'{path}\n    expected: {want}\n    got:      {got}')

    def compare(self, path, want, got):
        if want != got:
            self.add(path, repr(want), repr(got))

    def finish(self, what):
        """Fail when anything was added."""
        if self.lines:
            shown = '\n'.join(self.lines[:40])
            raise AssertionError(f'{what}: {len(self.lines)} differences\n{shown}')


# ------------------------------------------------------------------ files and programs


def write_file(path, data, mode=None):
    """Make a file with its parent directories; @data is str or bytes."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'wb') as f:
        f.write(data.encode() if isinstance(data, str) else data)
    if mode is not None:
        os.chmod(path, mode)


def read_file(path):
    with open(path, 'rb') as f:
        return f.read()


def run(argv, cwd=None, env=None, ok=(0, ), limit_sec=120, stdin=None):
    """Run a program to its end and return its CompletedProcess (text; stdout and stderr apart).

    An exit status outside @ok fails the test and shows what the program said; ok=None takes any.
    """
    try:
        p = subprocess.run(argv,
                           cwd=cwd,
                           env=env,
                           input=stdin,
                           stdin=None if stdin else subprocess.DEVNULL,
                           stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE,
                           text=True,
                           errors='surrogateescape',
                           timeout=limit_sec)
    except subprocess.TimeoutExpired as e:
        raise AssertionError(
            f'{argv}: still running after {limit_sec} s\n{e.stdout}\n{e.stderr}') from None
    if ok is not None and p.returncode not in ok:
        raise AssertionError(
            f'{argv}: exit status {p.returncode}, expected one of {ok}\n{p.stdout}\n{p.stderr}')
    return p


def need_program(*names):
    """Skip the test unless every program is installed."""
    for name in names:
        if not shutil.which(name):
            raise Skip(f'{name} is not installed')


def has_namespaces():
    """May this process have a mount namespace of its own? Not a user, nor root in a bare chroot."""
    return os.geteuid() == 0 and shutil.which('unshare') is not None and subprocess.run(
        ['unshare', '-m', 'true'], stderr=subprocess.DEVNULL, check=False).returncode == 0


def need_namespace():
    """Skip the test unless it may have a mount namespace of its own."""
    if not has_namespaces():
        raise Skip('no mount namespace of its own: needs root, and not in a bare chroot')


def clean_env(**more):
    """The environment for tools under test: no backend chosen, no user configuration."""
    env = {
        k: v
        for k, v in os.environ.items()
        if not k.startswith(('FLAGTREE_', 'SPECFS_SCRATCH', 'PYTHON', 'GIT_'))
    }
    env.update(LC_ALL='C.UTF-8',
               GIT_CONFIG_GLOBAL='/dev/null',
               GIT_CONFIG_SYSTEM='/dev/null',
               PYTHONNOUSERSITE='1')
    env.update(more)
    return env


def git(cwd, *args, ok=(0, )):
    """git in @cwd with no user configuration; returns its standard output."""
    ident = [
        '-c', 'user.name=specfs tests', '-c', 'user.email=tests@localhost', '-c',
        'safe.directory=*', '-c', 'commit.gpgsign=false', '-c', 'init.defaultBranch=main', '-c',
        'core.fsmonitor=false'
    ]
    return run(['git'] + ident + list(args), cwd=cwd, env=clean_env(), ok=ok).stdout


def snapshot(root, skip=('.git', )):
    """{path: (kind, mode, content or link target)} of a tree, to show that nothing changed."""
    out = {}
    for base, dirs, files in os.walk(root):
        if base == root:
            dirs[:] = [d for d in dirs if d not in skip]
        for name in dirs + files:
            full = os.path.join(base, name)
            st = os.lstat(full)
            kind = st.st_mode & 0o170000
            data = None
            if kind == 0o120000:
                data = os.readlink(full)
            elif kind == 0o100000:
                data = read_file(full)
            out[os.path.relpath(full, root)] = (kind, st.st_mode & 0o7777, data)
    return out
