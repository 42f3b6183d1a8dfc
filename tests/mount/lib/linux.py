# SPDX-License-Identifier: MIT
"""System calls that Python's os has no function for."""
import ctypes
import os

RENAME_NOREPLACE = 1
RENAME_EXCHANGE = 2
AT_FDCWD = -100
AT_SYMLINK_FOLLOW = 0x400

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result, *paths):
    if result < 0:
        e = ctypes.get_errno()
        raise OSError(e, os.strerror(e), *paths)


def renameat2(old, new, flags):
    """rename(2) with flags."""
    _check(
        _libc.renameat2(AT_FDCWD, os.fsencode(old), AT_FDCWD, os.fsencode(new),
                        ctypes.c_uint(flags)), old, None, new)


def link_open(fd, new):
    """Give the file that @fd has open a name; os.link() would link the name below /proc."""
    _check(
        _libc.linkat(AT_FDCWD, b'/proc/self/fd/%d' % fd, AT_FDCWD, os.fsencode(new),
                     AT_SYMLINK_FOLLOW), new)
