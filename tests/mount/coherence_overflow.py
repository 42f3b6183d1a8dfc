# SPDX-License-Identifier: MIT
"""More changes at once than the kernel's queue holds: all that was cached is looked through.

The daemon is stopped while `git checkout` replaces thousands of files underneath, so that nobody
empties the queue.  SPECFS_TEST_FILES says how many.
"""
import os
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

import userns  # noqa: E402
from checks import stop, unmount  # noqa: E402
from mounted import Skip, View, equal, git, is_mounted, main, snapshot, true  # noqa: E402

FILES = int(os.environ.get('SPECFS_TEST_FILES', '20000'))
PER_DIR = 100
LINE = 'too many changes at once'


def tree_of(branch):
    """path -> content. Some names are in one branch only, some are of another type there."""
    for i in range(FILES):
        d = f'src/d{i // PER_DIR}'
        if i % 7 == 0:
            yield f'{d}/{branch}{i}.h', f'only in {branch}\n'
        elif i % PER_DIR == 51:
            yield f'{d}/swap' + ('/f.txt' if branch == 'two' else ''), branch
        else:
            yield f'{d}/f{i}.txt', f'{branch} {i}\n'
    yield f'src/{branch}-dir/x.h', branch
    yield 'README', 'x\n'
    yield 'held/mounted/f.txt', branch
    yield 'held/used/f.txt', branch


def make_repository(root):
    """Two branches; by fast-import, since thousands of files take long otherwise."""
    lines = []
    for branch in ('one', 'two'):
        lines += [f'commit refs/heads/{branch}', 'committer t <t@localhost> 1700000000 +0000',
                  'data 1', 'm', 'deleteall']
        for path, text in tree_of(branch):
            lines += [f'M 100644 inline {path}', f'data {len(text)}', text]
    subprocess.run(['git', 'fast-import', '--quiet'], cwd=root, check=True,
                   input='\n'.join(lines + ['']).encode())
    git(root, 'checkout', '-q', '-f', 'one')


def missing_names():
    """What is not there in branch one and will be in branch two."""
    there = {path for path, _ in tree_of('one')}
    return [path for path, _ in tree_of('two') if path not in there][::10]


def same_as_below(v, what):
    equal_trees(snapshot(v.path('src')), snapshot(os.path.join(v.root, 'src')), what)


def equal_trees(got, want, what):
    wrong = sorted(k for k in got.keys() | want.keys() if got.get(k) != want.get(k))
    equal(wrong[:5], [], f'{what}: names that differ ({len(wrong)} of {len(want)})')


def stopped(v, call):
    """Run @call while the daemon can't look."""
    pid = v.status()['pid']
    stop(pid)
    try:
        call()
    finally:
        os.kill(pid, signal.SIGCONT)


def lines_told(v):
    return sum(LINE in line for line in v.log().splitlines())


class Insider:
    """Holds on to things inside the mount: open files, a working directory, something mounted."""

    def __init__(self, v):
        self.v = v
        self.replaced = open(v.path('src/d0/f2.txt'), 'rb')
        self.edited = open(v.path('README'), 'rb')
        equal((self.replaced.read(), self.edited.read()), (b'one 2\n', b'x\n'), 'open files')
        self.at, self.cwd = v.path('held/mounted'), v.path('held/used')
        subprocess.run(['mount', '-t', 'tmpfs', 'none', self.at], check=True)
        self.user = subprocess.Popen(['sh', '-c', 'read go && cat f.txt && pwd -P'],
                                     cwd=self.cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                     text=True)

    def check(self):
        equal(os.pread(self.replaced.fileno(), 9, 0), b'one 2\n', 'an open file, replaced')
        equal(os.pread(self.edited.fileno(), 9, 0), b'y\n', 'an open file, edited')
        true(is_mounted(self.at), 'what is mounted inside stays mounted')
        equal(self.user.communicate('go\n', 60)[0], f'two{self.cwd}\n',
              'a working directory')

    def leave(self):
        self.replaced.close()
        self.edited.close()
        self.user.kill()
        self.user.wait()
        unmount(self.at)


def change(root):
    git(root, 'checkout', '-q', 'two')
    with open(os.path.join(root, 'src/d0/f1.txt'), 'ab') as f:
        f.write(b'and more\n')
    with open(os.path.join(root, 'README'), 'r+b') as f:
        f.write(b'y')


def another_branch_overflows_the_queue():
    with View({}, mount=False) as v:
        make_repository(v.root)
        v.mount()
        same_as_below(v, 'before')
        equal(v.read('held/used/f.txt'), b'one', 'before')
        for path in missing_names():
            true(not v.exists(path), f'{path} is not there yet')
        insider = Insider(v)
        try:
            stopped(v, lambda: change(v.root))
            v.cli('sync', v.mnt)
            for path in missing_names():
                true(v.exists(path), f'{path} has come')
            insider.check()
        finally:
            insider.leave()
        same_as_below(v, 'after the checkout')
        true(v.status()['cache']['watch']['overflows'] > 0, f'no overflow: {v.status()["cache"]}')
        equal(lines_told(v), 1, 'lines in the log')


WHY_NOT = userns.enter()
if WHY_NOT:
    def needs_a_namespace():
        raise Skip(WHY_NOT)
    main(needs_a_namespace)
main(another_branch_overflows_the_queue)
