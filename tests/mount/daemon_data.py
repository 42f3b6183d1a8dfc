# SPDX-License-Identifier: MIT
"""File data against a model: reads, writes, maps, truncation, holes and copies at random, through
two descriptors of one file.  SPECFS_SEED repeats a run; SPECFS_STRESS_SEC makes it longer.
"""
import ctypes
import mmap
import os
import random
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from daemontree import PLACES, SPEC, view  # noqa: E402
from mounted import equal, main, read_file, true  # noqa: E402
from private import as_asked  # noqa: E402

SECONDS = float(os.environ.get('SPECFS_STRESS_SEC', '3'))
SEED = int(os.environ.get('SPECFS_SEED', random.SystemRandom().randrange(1 << 32)))
LIMIT = 300000
PUNCH = 0x03  # FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64]


class Exerciser:
    """One file, its model, and what was done to it."""

    def __init__(self, path, r):
        self.path, self.r = path, r
        self.fds = [os.open(path, os.O_RDWR | os.O_CREAT) for _ in range(2)]
        self.model = bytearray(read_file(path))
        self.done = []

    def close(self):
        for fd in self.fds:
            os.close(fd)

    def fd(self):
        return self.r.choice(self.fds)

    def span(self, limit):
        start = self.r.randrange(limit + 1)
        return start, self.r.randrange(1, 40000)

    def grow(self, size):
        if size > len(self.model):
            self.model += bytes(size - len(self.model))

    def write(self):
        at, n = self.span(LIMIT)
        data = self.r.randbytes(n)
        equal(os.pwrite(self.fd(), data, at), n, 'bytes written')
        self.grow(at + n)
        self.model[at:at + n] = data

    def append(self):
        data = self.r.randbytes(self.r.randrange(1, 5000))
        with open(self.path, 'ab', buffering=0) as f:
            f.write(data)
        self.model += data

    def read(self):
        at, n = self.span(len(self.model))
        equal(os.pread(self.fd(), n, at) == bytes(self.model[at:at + n]), True, f'read {n} at {at}')

    def truncate(self):
        size = self.r.randrange(LIMIT)
        os.ftruncate(self.fd(), size)
        del self.model[size:]
        self.grow(size)

    def map(self):
        if not self.model:
            return
        at, n = self.span(len(self.model) - 1)
        n = min(n, len(self.model) - at)
        with mmap.mmap(self.fd(), len(self.model)) as m:
            equal(m[at:at + n] == bytes(self.model[at:at + n]), True, f'map {n} at {at}')
            data = self.r.randbytes(n)
            m[at:at + n] = data
            if self.r.random() < 0.5:
                m.flush()
        self.model[at:at + n] = data

    def punch(self):
        at, n = self.span(LIMIT)
        if LIBC.fallocate(self.fd(), PUNCH, at, n) < 0:
            true(ctypes.get_errno() == 95, f'punch: errno {ctypes.get_errno()}')
            return
        end = min(at + n, len(self.model))
        if at < end:
            self.model[at:end] = bytes(end - at)

    def allocate(self):
        at, n = self.span(LIMIT)
        os.posix_fallocate(self.fd(), at, n)
        self.grow(at + n)

    def copy(self):
        if not self.model:
            return
        at, n = self.span(len(self.model) - 1)
        to = self.r.randrange(LIMIT)
        n = min(n, len(self.model) - at)
        if max(at, to) < min(at, to) + n:
            return  # may not overlap
        data = bytes(self.model[at:at + n])
        done = os.copy_file_range(self.fd(), self.fd(), n, at, to)
        self.grow(to + done)
        self.model[to:to + done] = data[:done]

    def sync(self):
        (os.fsync if self.r.random() < 0.5 else os.fdatasync)(self.fd())

    def reopen(self):
        os.close(self.fds.pop())
        self.fds.append(os.open(self.path, os.O_RDWR))

    def size(self):
        equal(os.fstat(self.fd()).st_size, len(self.model), 'size')

    def run(self, end):
        actions = (self.write, self.write, self.append, self.read, self.read, self.read,
                   self.truncate, self.map, self.map, self.punch, self.allocate, self.copy,
                   self.sync, self.reopen, self.size)
        while time.monotonic() < end:
            action = self.r.choice(actions)
            self.done.append(action.__name__)
            try:
                action()
            except AssertionError as e:
                raise AssertionError(
                    f'seed {SEED}, step {len(self.done)} after {self.done[-6:]}: {e}') from None
        equal(read_file(self.path) == bytes(self.model), True, f'seed {SEED}: content at the end')


def random_data():
    with view() as v:
        os.mkdir(v.path('build'))
        for place in PLACES:
            x = Exerciser(v.path(f'{place}/x'), random.Random(f'{SEED} {place}'))
            x.run(time.monotonic() + SECONDS)
            x.close()


def random_data_over_a_copy_up():
    """The file is trunk's at first and becomes the backend's by the first change."""
    with view() as v:
        x = Exerciser(v.path('include/t.h'), random.Random(SEED))
        x.run(time.monotonic() + SECONDS)
        x.close()
        equal(read_file(v.root + '/include/t.h'), b'trunk t\n', 'the trunk file')
        equal(read_file(f'{v.root}/{SPEC}/t.h') == bytes(x.model), True, "the backend's file")


as_asked()
main(random_data, random_data_over_a_copy_up)
