# SPDX-License-Identifier: MIT
"""A mounted view for one test: made, looked at, always taken down.

    from mounted import View, main, equal

    def test():
        with View('flagtree-mini', 'mthreads') as v:
            equal(v.read('python/triton/FLAGTREE_BACKEND'), b'mthreads', 'marker')

    main(test)

`main` runs the functions given to it and exits 0 (all passed), 1 (one failed, with the daemon's log
on stderr) or 77 (this machine cannot mount).  Everything a View makes lies in one temporary
directory of its own, and root's tests run in a mount namespace of their own, so tests may run side
by side: no other test's namespace keeps a view mounted that is unmounted here.  The checks and
helpers of checks.py can be imported from here, too.

Environment: SPECFS_BIN is the program under test, SPECFS_TREES the directory of sample checkouts
(default: tests/trees), SPECFS_TEST_TMP where temporary directories go, SPECFS_TEST_KEEP=1 keeps
them.
"""
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback

from checks import (LIMIT_SEC, Problems, Skip, clean_env, equal, fails, git, need_program,
                    read_file, run, snapshot, true, wait_for, write_file)
from namespace import run_again_privately

HERE = os.path.dirname(os.path.abspath(__file__))
TREES = os.environ.get('SPECFS_TREES') or os.path.normpath(os.path.join(HERE, '..', '..', 'trees'))
SKIP = 77
ORIGIN_XATTR = 'user.specfs.origin'
SANITIZER_MARKS = ('ERROR: AddressSanitizer', 'ERROR: LeakSanitizer', 'WARNING: ThreadSanitizer',
                   'runtime error:')

# ------------------------------------------------------------------ what this machine can do


def has_user_xattr(path):
    try:
        os.setxattr(path, 'user.specfs.test', b'1')
        os.removexattr(path, 'user.specfs.test')
        return True
    except OSError:
        return False


def temp_base():
    """A directory for temporaries whose filesystem has user xattrs (scratch needs them)."""
    for cand in (os.environ.get('SPECFS_TEST_TMP'), tempfile.gettempdir(), '/var/tmp'):
        if not cand or not os.access(cand, os.W_OK):
            continue
        probe = tempfile.mkdtemp(prefix='specfs-probe-', dir=cand)
        try:
            if has_user_xattr(probe):
                return cand
        finally:
            os.rmdir(probe)
    raise Skip('no temporary directory with user extended attributes')


def binary():
    """Absolute path of the program under test."""
    path = os.environ.get('SPECFS_BIN') or shutil.which('specfs')
    if not path:
        raise Skip('SPECFS_BIN is not set and there is no specfs on PATH')
    if not os.access(path, os.X_OK):
        raise AssertionError(f'SPECFS_BIN={path}: not an executable file')
    return os.path.abspath(path)


def need_fuse():
    """Skip the test unless this user can mount with FUSE here."""
    if not os.access('/dev/fuse', os.R_OK | os.W_OK):
        raise Skip('/dev/fuse is missing or not accessible')
    if os.geteuid() != 0 and not shutil.which('fusermount3'):
        raise Skip('fusermount3 is not installed')


def is_mounted(path):
    """True when something is mounted exactly at @path; never touches the mount itself."""
    want = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
    with open('/proc/self/mountinfo', encoding='utf-8', errors='surrogateescape',
              newline='\n') as f:
        for line in f:
            at = line.split(' ')[4].encode(
                'utf-8', 'surrogateescape').decode('unicode_escape').encode('latin-1')
            if at == os.fsencode(want):
                return True
    return False


def detach(path):
    """Take down whatever is mounted at @path, dead daemon or not."""
    while is_mounted(path):
        for argv in (['umount', '-l', path], ['fusermount3', '-u', '-z', path]):
            if shutil.which(argv[0]) and subprocess.run(argv,
                                                        stderr=subprocess.DEVNULL).returncode == 0:
                break
        else:
            print(f'could not unmount {path}', file=sys.stderr)
            return


# ------------------------------------------------------------------ checkouts


def copy_tree(name, dest):
    """Copy a sample checkout to @dest; 'a+b' lays tests/trees/b over tests/trees/a."""
    junk = shutil.ignore_patterns('__pycache__', '*.egg-info')
    for part in name.split('+'):
        src = os.path.join(TREES, part)
        true(os.path.isdir(src), f'{src}: no such sample checkout')
        shutil.copytree(src, dest, symlinks=True, ignore=junk, dirs_exist_ok=True)


def make_tree(files, dest):
    """Write {path: content} below @dest.

    A path that ends in / is a directory; a content ('link', text) makes a symlink.
    """
    os.makedirs(dest, exist_ok=True)
    for rel, data in files.items():
        full = os.path.join(dest, rel)
        if rel.endswith('/'):
            os.makedirs(full, exist_ok=True)
        elif isinstance(data, tuple):
            os.makedirs(os.path.dirname(full), exist_ok=True)
            os.symlink(data[1], full)
        else:
            write_file(full, data)


def commit_all(root):
    """Make @root a git repository with everything in it committed."""
    git(root, 'init', '-q')
    git(root, 'add', '-A')
    git(root, 'commit', '-q', '--allow-empty', '-m', 'initial state')


# ------------------------------------------------------------------ the view


class View:
    """One checkout, mounted.  Use as a context manager.

    tree        name below tests/trees ('flagtree-mini', 'flagtree-mini+flagtree-mini-hooks'),
                or a dict for make_tree, or None when @root is given
    backend     what goes after -b; None leaves -b out
    opts        further words of the command line, e.g. ['-r', '-o', 'write=owner']
    root        use this existing checkout instead of a copy (it is not removed)
    at          name of the mountpoint below the temporary directory (may have slashes)
    prepare     function(root), called after the copy and before the commit (plant files here)
    dirty       function(root), called after the commit and before the mount
    use_git     make the copy a git repository (default)
    foreground  run the daemon with -f as our child, so that its log and exit status are checked;
                False lets `specfs mount` go to the background, as users do
    mount       False: prepare everything, but leave mounting to .mount()

    v.tmp  v.root  v.mnt  v.scratch  v.log_path  v.env  v.daemon (a Popen when foreground)
    v.at_end is closed when nothing is mounted any more, before the temporary directory goes
    """
    def __init__(self,
                 tree='flagtree-mini',
                 backend=None,
                 opts=(),
                 root=None,
                 at='mnt',
                 prepare=None,
                 dirty=None,
                 use_git=True,
                 foreground=True,
                 mount=True,
                 env=None):
        self.tree, self.backend, self.opts = tree, backend, list(opts)
        self.given_root, self.at = root, at
        self.prepare, self.dirty, self.use_git = prepare, dirty, use_git
        self.foreground, self.want_mount = foreground, mount
        self.more_env = dict(env or {})
        self.daemon = None
        self.tmp = None
        self.at_end = contextlib.ExitStack()

    def __enter__(self):
        need_fuse()
        self.bin = binary()
        # realpath: the view's origin answers name real paths
        self.tmp = os.path.realpath(tempfile.mkdtemp(prefix='specfs-', dir=temp_base()))
        self.mnt = os.path.join(self.tmp, self.at)
        self.scratch = os.path.join(self.tmp, 'scratch')
        self.log_path = os.path.join(self.tmp, 'daemon.log')
        open(self.log_path, 'w').close()
        try:
            self._setup()
            if self.want_mount:
                self.mount()
        except BaseException:
            self._take_down(sys.exc_info())
            raise
        return self

    def __exit__(self, kind, value, tb):
        if kind is not None:
            self._take_down((kind, value, tb))
            return False
        try:
            if is_mounted(self.mnt):
                self.umount()
            self._check_log()
        except BaseException:
            self._take_down(sys.exc_info())
            raise
        self._take_down(None)
        return False

    def _setup(self):
        self.root = self.given_root or os.path.join(self.tmp, 'checkout')
        os.makedirs(self.mnt)
        os.makedirs(self.scratch)
        self.env = dict(os.environ,
                        XDG_CACHE_HOME=os.path.join(self.tmp, 'cache'),
                        XDG_RUNTIME_DIR=os.path.join(self.tmp, 'run'),
                        **self.more_env)
        os.makedirs(self.env['XDG_RUNTIME_DIR'], mode=0o700)
        if self.given_root:
            return
        if isinstance(self.tree, dict):
            make_tree(self.tree, self.root)
        else:
            copy_tree(self.tree, self.root)
        if self.prepare:
            self.prepare(self.root)
        if self.use_git:
            commit_all(self.root)
        if self.dirty:
            self.dirty(self.root)

    # -------------------------------------------------------- mounting

    def mount_argv(self):
        """The command line `mount` uses."""
        argv = [self.bin, 'mount']
        if self.backend:
            argv += ['-b', self.backend]
        argv += ['-s', self.scratch] + self.opts
        if self.foreground:
            argv.append('-f')
        return argv + [self.root, self.mnt]

    def mount(self):
        """Mount (again), and return when the mount answers."""
        if not self.foreground:
            with open(self.log_path, 'ab') as log:
                p = subprocess.run(self.mount_argv(),
                                   env=self.env,
                                   stdin=subprocess.DEVNULL,
                                   stdout=log,
                                   stderr=log,
                                   timeout=60)
            equal(p.returncode, 0, f'exit status of {self.mount_argv()}')
            true(is_mounted(self.mnt), f'{self.mnt} is mounted when `specfs mount` has returned')
            return
        with open(self.log_path, 'ab') as log:
            self.daemon = subprocess.Popen(self.mount_argv(),
                                           env=self.env,
                                           stdin=subprocess.DEVNULL,
                                           stdout=log,
                                           stderr=log)
        wait_for(self._answers, f'{self.mount_argv()}: mounting', 60)

    def _answers(self):
        if self.daemon.poll() is not None:
            raise AssertionError(
                f'{self.mount_argv()}: exit status {self.daemon.returncode}, expected a mount')
        try:
            os.statvfs(self.mnt)  # never cached: what a dead daemon left fails
        except OSError:
            return False
        return is_mounted(self.mnt)  # not the bare directory, after that was cleared away

    def umount(self):
        """`specfs umount`, then wait until the daemon is gone; its exit status must be 0."""
        p = run([self.bin, 'umount', self.mnt], env=self.env, ok=(0, 2))
        # a test with a mount namespace of its own, just beginning, may have a copy for a moment
        true(p.returncode == 0 or 'is unmounted, but ' in p.stderr,
             f'`specfs umount` succeeds: {p.stderr}')
        true(not is_mounted(self.mnt), f'{self.mnt} is not mounted after `specfs umount`')
        self._reap(0)

    def kill(self, sig=signal.SIGKILL):
        """Kill the daemon (foreground views only); the dead mountpoint is left in place."""
        self.daemon.send_signal(sig)
        self.daemon.wait(LIMIT_SEC)
        self.daemon = None

    def _reap(self, want):
        if not self.daemon:
            return
        daemon, self.daemon = self.daemon, None
        try:
            status = daemon.wait(60)
        except subprocess.TimeoutExpired:
            daemon.kill()
            daemon.wait()
            raise AssertionError('the daemon still ran 60 s after the unmount') from None
        equal(status, want, 'exit status of the daemon')

    def remount(self):
        """Unmount and mount again with the same scratch."""
        self.umount()
        self.mount()

    # -------------------------------------------------------- looking

    def path(self, rel=''):
        """The path of @rel inside the mount."""
        return os.path.join(self.mnt, rel) if rel else self.mnt

    def read(self, rel):
        """The bytes of a file inside the mount."""
        return read_file(self.path(rel))

    def write(self, rel, data):
        """Write a file inside the mount (parents are made)."""
        write_file(self.path(rel), data)

    def exists(self, rel):
        """True when the name is in the view, dangling symlinks too."""
        return os.path.lexists(self.path(rel))

    def listdir(self, rel=''):
        return sorted(os.listdir(self.path(rel)))

    def origin(self, rel):
        """Text of the user.specfs.origin attribute: the layer and the real path of a file."""
        return os.getxattr(self.path(rel), ORIGIN_XATTR, follow_symlinks=False).decode()

    def status(self):
        """What the daemon says of itself in .specfs/status."""
        return json.loads(self.read('.specfs/status'))

    def cli(self, *words, ok=(0, ), cwd=None):
        """Run specfs with these words; see run()."""
        return run([self.bin] + list(words), cwd=cwd, env=self.env, ok=ok)

    def git(self, *args, ok=(0, )):
        """git in the checkout (not in the mount); returns its standard output."""
        return git(self.root, *args, ok=ok)

    def log(self):
        """What the daemon has said so far."""
        return read_file(self.log_path).decode(errors='replace')

    # -------------------------------------------------------- the end

    def _check_log(self):
        for mark in SANITIZER_MARKS:
            true(mark not in self.log(), f'the log of the daemon has no "{mark}"')

    def _take_down(self, failure):
        detach(self.mnt)
        if self.daemon:
            self.daemon.terminate()
            try:
                self.daemon.wait(10)
            except subprocess.TimeoutExpired:
                self.daemon.kill()
                self.daemon.wait()
            self.daemon = None
        if failure and self.log().strip():
            print(
                f'--- log of {" ".join(self.mount_argv())}\n{self.log()}--- end of log',
                file=sys.stderr)
        self.at_end.close()
        if os.environ.get('SPECFS_TEST_KEEP'):
            print(f'kept: {self.tmp}', file=sys.stderr)
        elif not is_mounted(self.mnt):
            remove_tree(self.tmp)


def remove_tree(path):
    """rm -r that also manages directories without permissions."""
    for base, dirs, _ in os.walk(path):
        for d in dirs:
            full = os.path.join(base, d)
            if not os.path.islink(full) and not os.access(full, os.W_OK | os.X_OK | os.R_OK):
                os.chmod(full, 0o700)
    shutil.rmtree(path)


class TempDir:
    """A temporary directory for tests that need no mount: `with TempDir() as d`."""
    def __enter__(self):
        self.path = os.path.realpath(tempfile.mkdtemp(prefix='specfs-', dir=temp_base()))
        return self.path

    def __exit__(self, *failure):
        if os.environ.get('SPECFS_TEST_KEEP'):
            print(f'kept: {self.path}', file=sys.stderr)
        else:
            remove_tree(self.path)
        return False


def _on_term(_sig, _frame):
    # so that a test runner's time limit still unmounts
    raise SystemExit(1)


def main(*tests):
    """Run the given functions in order and exit; the file's name filters nothing, all run."""
    run_again_privately()
    signal.signal(signal.SIGTERM, _on_term)
    failed = skipped = 0
    for test in tests:
        try:
            test()
            print(f'ok    {test.__name__}', flush=True)
        except Skip as e:
            skipped += 1
            print(f'skip  {test.__name__}: {e}', flush=True)
        except AssertionError as e:
            failed += 1
            print(f'FAIL  {test.__name__}: {e}', flush=True)
        except Exception:
            failed += 1
            print(f'FAIL  {test.__name__}', flush=True)
            traceback.print_exc()
    if failed:
        sys.exit(1)
    sys.exit(SKIP if skipped == len(tests) else 0)
