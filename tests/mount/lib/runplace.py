# SPDX-License-Identifier: MIT
"""A checkout for tests of `specfs run`, and the program called there, by root or an ordinary user.

    with Place('flagtree-mini', 'mthreads') as v:
        equal(v.see('cat', 'python/triton/FLAGTREE_BACKEND').stdout, 'mthreads', 'marker')
"""
import os
import shutil
import subprocess

from checks import Skip, clean_env, equal, need_namespace, need_program, run, wait_for
from mounted import View, is_mounted
from private import NOBODY, as_command, profile_dir

MARKER = 'python/triton/FLAGTREE_BACKEND'


def end(p, limit_sec=60):
    """End what a test that failed has left; the program passes SIGTERM on to its command."""
    if p.poll() is not None:
        return
    p.terminate()
    try:
        p.communicate(timeout=limit_sec)
    except subprocess.TimeoutExpired:
        p.kill()
        p.communicate(timeout=limit_sec)


class Place(View):
    """A View that is never mounted where the test can see it.

    user: run the program as an ordinary user, who owns the place; skips where there is no way.
    """
    def __init__(self, *args, user=False, **kw):
        super().__init__(*args, mount=False, **kw)
        self.user = user
        self.as_user = []

    def _setup(self):
        super()._setup()
        os.rmdir(self.mnt)
        self.env = clean_env(XDG_CACHE_HOME=os.path.join(self.tmp, 'cache'), HOME=self.tmp)
        for name in ('SPECFS_PROFILE_DIR', 'SPECFS_HOOKS_DIR'):
            if name in os.environ:
                self.env[name] = os.environ[name]
        if self.user or os.geteuid() != 0:
            self._become_user()
        else:
            need_namespace()

    def _become_user(self):
        need_program('unshare')
        if os.geteuid() == 0:
            self.as_user = as_command()
            self._copy_program()
            for base, dirs, files in os.walk(self.tmp):
                for name in [base] + [os.path.join(base, n) for n in dirs + files]:
                    os.lchown(name, NOBODY, NOBODY)
        for test, why in ((['unshare', '-U', 'true'], 'make a user namespace'),
                          (['sh', '-c', 'exec 3<> /dev/fuse'], 'open /dev/fuse')):
            if run(self.as_user + test, ok=None).returncode:
                raise Skip(f'an ordinary user may not {why} here')

    def _copy_program(self):
        """The build directory may be closed to others."""
        self.env.setdefault('SPECFS_PROFILE_DIR', profile_dir())
        for name in ('SPECFS_PROFILE_DIR', 'SPECFS_HOOKS_DIR'):
            if name in self.env:
                self.env[name] = shutil.copytree(self.env[name], os.path.join(self.tmp, name))
        self.bin = shutil.copy(self.bin, os.path.join(self.tmp, 'program'))

    def argv(self, *command, opts=()):
        backend = ['-b', self.backend] if self.backend else []
        return [*self.as_user, self.bin, 'run', *backend, *self.opts, *opts, self.root, '--',
                *command]

    def see(self, *command, opts=(), ok=(0, ), cwd=None, stdin=None, limit_sec=120):
        """Run a command in the view; by default from its root."""
        return run(self.argv(*command, opts=opts), cwd=cwd or self.root, env=self.env, ok=ok,
                   stdin=stdin, limit_sec=limit_sec)

    def begin(self, *command, opts=()):
        """The same, left to run; a Popen with text pipes. It ends with the test at the latest."""
        p = subprocess.Popen(self.argv(*command, opts=opts), cwd=self.root, env=self.env,
                             text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
        self.at_end.callback(end, p)
        return p

    def fault(self, *words, has, cwd=None, env=None):
        """`specfs WORDS` must fail with status 2 and one line that has every text of @has."""
        p = run(self.as_user + [self.bin, *words], cwd=cwd or self.root,
                env={**self.env, **(env or {})}, ok=(2, ))
        equal((p.stdout, p.stderr.count('\n')), ('', 1), f'output and lines of {words}: {p.stderr}')
        for text in [has] if isinstance(has, str) else has:
            equal(text in p.stderr, True, f'{words} says {text!r}; it said {p.stderr!r}')

    def processes(self):
        """Those whose command line names the place: daemons, and what runs in the view."""
        found = []
        for pid in filter(str.isdigit, os.listdir('/proc')):
            try:
                with open(f'/proc/{pid}/cmdline', 'rb') as f:
                    line = f.read()
            except OSError:
                continue
            if os.fsencode(self.tmp) in line:
                found.append((int(pid), line))
        return found

    def nothing_is_left(self):
        equal(self.processes(), [], 'processes of the place')
        equal(is_mounted(self.root), False, 'mounted')

    def wait_until_nothing_is_left(self):
        wait_for(lambda: not self.processes(), 'everything has ended')
        self.nothing_is_left()
