# SPDX-License-Identifier: MIT
"""A disk that is full: the view can be unmounted, mounted again, and emptied through the mount."""
import errno
import os

from loopfs import LoopFs
from mounted import View, equal, main, make_tree, wait_for

FILES = {'a': 'text of a\n', 'd/b': 'text of b\n'}


def fill(path):
    with open(path, 'wb', buffering=0) as f:
        for size in (1 << 20, 4096, 1):
            try:
                while True:
                    f.write(b'f' * size)
            except OSError as e:
                equal(e.errno, errno.ENOSPC, 'errno of a write to a full disk')


def fill_names(top):
    """Until a name finds no place, either."""
    try:
        for i in range(100000):
            os.mkdir(os.path.join(top, f'{i:0200}'))
    except OSError as e:
        equal(e.errno, errno.ENOSPC, 'errno of a directory on a full disk')


def a_view_is_mounted_on_a_full_disk():
    with LoopFs('ext4', 30) as at:
        make_tree(FILES, f'{at}/checkout')
        os.mkdir(f'{at}/scratch')
        with View(root=f'{at}/checkout', opts=['--scratch-all'], mount=False) as v:
            v.scratch = f'{at}/scratch'
            v.mount()
            os.mkdir(v.path('names'))
            fill(v.path('full'))
            fill_names(v.path('names'))
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
