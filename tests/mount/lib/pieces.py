# SPDX-License-Identifier: MIT
"""Directories read in pieces, by getdents64 with a small buffer, as old programs do."""
import ctypes
import os
import sys

from checks import true

LIBC = ctypes.CDLL(None, use_errno=True)


class Reader:
    """A directory read with a small buffer, as old programs do."""

    def __init__(self, path, size=1024):
        self.fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        self.buf = ctypes.create_string_buffer(size)

    def batch(self):
        """[(name, inode, offset of the next)], [] at the end."""
        n = LIBC.syscall(217, self.fd, self.buf, len(self.buf))  # getdents64
        true(n >= 0, f'getdents64: errno {ctypes.get_errno()}')
        out, at, raw = [], 0, self.buf.raw
        while at < n:
            length = int.from_bytes(raw[at + 16:at + 18], sys.byteorder)
            name = raw[at + 19:at + length].split(b'\0')[0].decode()
            out.append((name, int.from_bytes(raw[at:at + 8], sys.byteorder),
                        int.from_bytes(raw[at + 8:at + 16], sys.byteorder)))
            at += length
        return out

    def rest(self):
        out = []
        while True:
            got = self.batch()
            if not got:
                return out
            out += got

    def close(self):
        os.close(self.fd)
