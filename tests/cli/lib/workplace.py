# SPDX-License-Identifier: MIT
"""A temporary place with a checkout in it, and the program under test called there.

    with Workplace() as w:
        w.fault('mount', '-b', 'nope', has='no backend')

Every mount that a test leaves behind below the place is taken down at its end.
"""
import json
import os
import select
import signal
import tempfile

from checks import clean_env, equal, run, true, wait_for
from mounted import binary, commit_all, copy_tree, detach, make_tree, remove_tree, temp_base
from namespace import unescape


class Workplace:
    """tree: name of a sample checkout, or a dict for make_tree; None: no checkout.

    w.tmp  w.root  w.cache  w.env
    """
    def __init__(self, tree='flagtree-mini', use_git=True):
        self.tree, self.use_git = tree, use_git

    def __enter__(self):
        self.bin = binary()
        self.tmp = os.path.realpath(tempfile.mkdtemp(prefix='specfs-cli-', dir=temp_base()))
        self.root = os.path.join(self.tmp, 'root')
        self.cache = os.path.join(self.tmp, 'cache')
        self.env = clean_env(XDG_CACHE_HOME=self.cache, HOME=self.tmp)
        if isinstance(self.tree, dict):
            make_tree(self.tree, self.root)
        elif self.tree:
            copy_tree(self.tree, self.root)
        if self.tree and self.use_git:
            commit_all(self.root)
        return self

    def __exit__(self, *failure):
        for at in self.mounts():
            detach(at)
        wait_for(lambda: not self.daemons(), 'daemons end with their mounts')
        if os.environ.get('SPECFS_TEST_KEEP'):
            print(f'kept: {self.tmp}')
        else:
            remove_tree(self.tmp)
        return False

    def path(self, *parts):
        return os.path.join(self.tmp, *parts)

    def mounts(self):
        """What is mounted below the place, innermost first; from the mount table alone."""
        with open('/proc/self/mountinfo', encoding='utf-8', errors='surrogateescape') as f:
            at = [unescape(line.split(' ')[4]) for line in f if ' - ' in line]
        return [a for a in reversed(at) if a.startswith(self.tmp + '/')]

    def specfs(self, *words, ok=(0, ), cwd=None, env=None, limit_sec=60):
        """Run the program; see run()."""
        return run([self.bin, *words],
                   cwd=cwd or self.tmp,
                   env={**self.env, **(env or {})},
                   ok=ok,
                   limit_sec=limit_sec)

    def fault(self, *words, has, cwd=None, env=None):
        """It must fail: status 2, no output, one line on stderr with every text of @has."""
        p = self.specfs(*words, ok=None, cwd=cwd, env=env)
        what = ' '.join(words)[:300]
        equal(p.returncode, 2, f'exit status of specfs {what}; it said {p.stderr!r}')
        equal(p.stdout, '', f'output of specfs {what}')
        equal(p.stderr.count('\n'), 1, f'lines on stderr of specfs {what}: {p.stderr!r}')
        true(p.stderr.startswith('specfs'), f'{p.stderr!r} begins with the name of the program')
        for text in [has] if isinstance(has, str) else has:
            true(text in p.stderr, f'specfs {what} says {text!r}; it said {p.stderr!r}')
        return p.stderr

    def json(self, *words, ok=(0, ), cwd=None, env=None):
        """The facts that a command prints with --json."""
        p = self.specfs(*words, '--json', ok=ok, cwd=cwd, env=env)
        equal(p.stderr, '', f'stderr of specfs {" ".join(words)} --json')
        return json.loads(p.stdout)

    def daemons(self):
        """Pids of processes that run the program under test for a mount below the place."""
        found = []
        for pid in filter(str.isdigit, os.listdir('/proc')):
            if link_text(f'/proc/{pid}/exe') != os.path.realpath(self.bin):
                continue
            try:
                names = os.listdir(f'/proc/{pid}/fd')
            except OSError:
                continue
            if any(link_text(f'/proc/{pid}/fd/{n}').startswith(self.tmp + '/') for n in names):
                found.append(int(pid))
        return found


def link_text(path):
    """What a link of /proc says; '' once it is gone, or of a process that cannot be looked into."""
    try:
        return os.readlink(path)
    except OSError:
        return ''


def kill(pid):
    """Kill a daemon that a test has started, and wait until it is gone."""
    fd = os.pidfd_open(pid)
    try:
        signal.pidfd_send_signal(fd, signal.SIGKILL)
        true(select.select([fd], [], [], 60)[0], f'process {pid} is gone after SIGKILL')
    finally:
        os.close(fd)
