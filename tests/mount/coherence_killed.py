# SPDX-License-Identifier: MIT
"""A daemon that is killed while it tells the kernel something: the kernel does not let it die while
that waits. `specfs umount` and the next `specfs mount` heal it without touching the mount."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from held import Child, Held, stacks  # noqa: E402
from mounted import View, equal, is_mounted, main, read_file, true, wait_for  # noqa: E402

TREE = {'docs/a.txt': 'a\n', 'docs/b.txt': 'b\n'}
TELLING = ('fuse_reverse_inval_entry', 'fuse_reverse_inval_inode')


def is_telling(pid):
    """Does a thread of the daemon wait inside a message to the kernel?"""
    return any(f in stacks(pid) for f in TELLING)


class Stuck:
    """A view whose daemon waits inside a message, and then is killed."""

    def __init__(self, v, held):
        os.stat(v.path('docs/a.txt'))
        self.user = Child('user', lambda: os.listdir(v.path('docs')))
        held.wait()
        with open(os.path.join(v.root, 'docs/new'), 'w', encoding='ascii') as f:
            f.write('new')
        self.pid = v.daemon.pid
        wait_for(lambda: is_telling(self.pid), 'the daemon waits while it tells the kernel')
        v.daemon.kill()

    def ended(self, v):
        equal(self.user.wait(60), 1, 'who waited in the mount gets an error')
        wait_for(lambda: v.daemon.poll() is not None, 'the killed daemon ends')
        v.daemon = None


def umount_heals_it():
    with View(TREE) as v:
        with Held(os.path.join(v.root, 'docs')) as held:
            stuck = Stuck(v, held)
            v.cli('umount', v.mnt)
            true(not is_mounted(v.mnt), 'nothing is mounted')
            stuck.ended(v)


def mounting_again_heals_it():
    with View(TREE) as v:
        with Held(os.path.join(v.root, 'docs')) as held:
            stuck = Stuck(v, held)
            old, v.daemon = v.daemon, None
            v.mount()
            new, v.daemon = v.daemon, old
            stuck.ended(v)
            v.daemon = new
            wait_for(lambda: os.path.exists(v.path('docs')), 'the new view')
        equal(sorted(v.listdir('docs')), ['a.txt', 'b.txt', 'new'], 'the new view')
        equal(v.read('docs/new'), read_file(os.path.join(v.root, 'docs/new')), 'and its content')


main(umount_heals_it, mounting_again_heals_it)
