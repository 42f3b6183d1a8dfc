# SPDX-License-Identifier: MIT
"""A disk that is full: the view can be unmounted, mounted again, and emptied through the mount."""
import os

from loopfs import LoopFs, fill_blocks, until_full
from mounted import View, equal, main, make_tree, wait_for

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


main(a_view_is_mounted_on_a_full_disk)
