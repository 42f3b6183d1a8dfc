# SPDX-License-Identifier: MIT
"""Ways to read a file while others change it: each asks the kernel for something else."""
import os

ROOM = 1 << 22  # more than any file has that is read so


def at_once(path):
    """With one read(), and without a word about the size."""
    fd = os.open(path, os.O_RDONLY)
    try:
        return os.read(fd, ROOM)
    finally:
        os.close(fd)


def by_size(path):
    """As much as fstat() says that there is."""
    fd = os.open(path, os.O_RDONLY)
    try:
        return os.read(fd, os.fstat(fd).st_size)
    finally:
        os.close(fd)
