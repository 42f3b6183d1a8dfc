# SPDX-License-Identifier: MIT
"""A file system of its own for a test, on a loop device: small, or of a kind that shares blocks.

    with LoopFs('xfs') as at: ...

Root only; skips where there is no way.
"""
import errno
import os
import shutil
import subprocess
import tempfile

from checks import Skip, equal, need_program, run
from mounted import temp_base

MAKE = {
    'ext4': ['mkfs.ext4', '-q', '-F'],
    'xfs': ['mkfs.xfs', '-q', '-f'],
    'btrfs': ['mkfs.btrfs', '-q', '-f'],
}


def until_full(step):
    """Call step(0), step(1), ... until the file system has no room for one more."""
    number = 0
    try:
        while True:
            step(number)
            number += 1
    except OSError as e:
        equal(e.errno, errno.ENOSPC, 'why there is no more')


def fill_blocks(path):
    """Let a file take all blocks that its file system has left."""
    with open(path, 'wb', buffering=0) as f:
        for size in (1 << 20, 4096, 1):
            until_full(lambda number: f.write(b'f' * size))


class LoopFs:
    def __init__(self, kind='ext4', size_mb=64, options=''):
        self.kind, self.size_mb, self.options = kind, size_mb, options

    def __enter__(self):
        if os.geteuid() != 0:
            raise Skip('only root mounts a file system')
        need_program('mount', MAKE[self.kind][0])
        self.tmp = os.path.realpath(tempfile.mkdtemp(prefix='specfs-loop-', dir=temp_base()))
        self.at = os.path.join(self.tmp, 'fs')
        os.mkdir(self.at)
        image = os.path.join(self.tmp, 'image')
        with open(image, 'wb') as f:
            f.truncate(self.size_mb << 20)
        run(MAKE[self.kind] + [image])
        options = 'loop' + (f',{self.options}' if self.options else '')
        p = run(['mount', '-t', self.kind, '-o', options, image, self.at], ok=None)
        if p.returncode:
            shutil.rmtree(self.tmp)
            raise Skip(f'no {self.kind} on a loop device here: {p.stderr.strip()}')
        return self.at

    def __exit__(self, *failure):
        subprocess.run(['umount', self.at], check=False)
        if os.path.ismount(self.at):
            run(['umount', '-l', self.at])
        shutil.rmtree(self.tmp)
        return False
