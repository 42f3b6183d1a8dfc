# SPDX-License-Identifier: MIT
"""A disk that is full: the view can be unmounted, mounted again, and emptied through the mount."""
import errno
import os

from loopfs import LoopFs, fill_blocks, until_full
from mounted import View, equal, fails, main, make_tree, true, wait_for

FILES = {'a': 'text of a\n', 'd/b': 'text of b\n'}


def a_view_is_mounted_on_a_full_disk():
    with LoopFs('ext4', 30) as at:
        make_tree(FILES, f'{at}/checkout')
        os.mkdir(f'{at}/scratch')
        with View(root=f'{at}/checkout', opts=['--scratch-all'], mount=False) as v:
            v.scratch = f'{at}/scratch'
            v.mount()
            os.mkdir(v.path('names'))
            fill_blocks(v.path('full'))
            # until a name finds no place, either
            until_full(lambda i: os.mkdir(v.path(f'names/{i:0200}')))
            for end in (v.umount, v.kill):
                end()
                v.mount()
                for name, text in FILES.items():
                    equal(v.read(name), text.encode(), name)
            v.umount()
            v.mount()
            os.unlink(v.path('full'))
            # the kernel tells the daemon a little later that nobody has it any more
            wait_for(lambda: os.statvfs(at).f_bavail * os.statvfs(at).f_frsize > 1 << 20, 'space')
            v.write('d/b', b'new')
            v.remount()
            equal(v.read('d/b'), b'new', 'what was written once there was space')
            v.umount()


def what_failed_for_want_of_space_succeeds_later():
    """The directory for a mark could still be made in scratch, the mark in it could not."""
    with LoopFs('ext4', 30) as at:
        make_tree(FILES, f'{at}/checkout')
        os.mkdir(f'{at}/scratch')
        os.mkdir(f'{at}/fill')
        with View(root=f'{at}/checkout', opts=['--scratch-all'], mount=False) as v:
            v.scratch = f'{at}/scratch'
            v.mount()
            equal(v.read('d/b'), FILES['d/b'].encode(), 'the file')
            until_full(lambda i: os.symlink('t', f'{at}/fill/{i}'))  # takes no block
            os.unlink(f'{at}/fill/0')
            fails(errno.ENOSPC, os.unlink, v.path('d/b'))
            equal(v.read('d/b'), FILES['d/b'].encode(), 'what was not removed')
            for i in range(1, 9):
                os.unlink(f'{at}/fill/{i}')
            os.unlink(v.path('d/b'))
            equal(v.listdir('d'), [], 'names once it is removed')
            true(not v.exists('d/b'), 'it is gone')
            v.remount()
            equal(v.listdir('d'), [], 'names after a remount')
            v.umount()


main(a_view_is_mounted_on_a_full_disk, what_failed_for_want_of_space_succeeds_later)
