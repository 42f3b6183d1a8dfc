# SPDX-License-Identifier: MIT
"""Space: a full layer is told before a map needs it, and fallocate, holes and copies keep to it."""
import ctypes
import errno
import fcntl
import mmap
import os
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from daemontree import PLACES, TREE, view  # noqa: E402
from loopfs import LoopFs, fill_blocks  # noqa: E402
from mounted import (View, commit_all, equal, fails, main, make_tree, read_file,  # noqa: E402
                     true, wait_for)
from private import as_asked  # noqa: E402
from routes import files  # noqa: E402

MB = 1 << 20
KEEP_SIZE, PUNCH, COLLAPSE, ZERO, INSERT = 0x01, 0x02, 0x08, 0x10, 0x20
FICLONE = 0x40049409
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64]


def fallocate(fd, mode, offset, length):
    if LIBC.fallocate(fd, mode, offset, length) < 0:
        e = ctypes.get_errno()
        raise OSError(e, os.strerror(e))


def a_full_layer_is_told_early():
    with LoopFs('ext4', 40) as at:
        root = os.path.join(at, 'checkout')
        make_tree(TREE, root)
        commit_all(root)
        os.mkdir(os.path.join(at, 'scratch'))
        with View(root=root, backend='b', opts=['-p', 'flagtree', '-o', 'redirect=none'],
                  mount=False) as v:
            v.scratch = os.path.join(at, 'scratch')
            v.mount()
            os.mkdir(v.path('build'))
            old = {n: v.read(n) for n in ('doc/t.txt', 'include/t.h', 'include/both.h')}
            for place in PLACES:
                with open(v.path(f'{place}/big'), 'wb') as f:
                    fails(errno.ENOSPC, os.posix_fallocate, f.fileno(), 0, 100 * MB)
                    os.ftruncate(f.fileno(), 10 * MB)
                with open(v.path(f'{place}/big'), 'r+b') as f, mmap.mmap(f.fileno(), 0) as m:
                    m[5 * MB:6 * MB] = b'x' * MB
                true(v.read(f'{place}/big')[5 * MB:6 * MB] == b'x' * MB, f'{place}: map')
                os.unlink(v.path(f'{place}/big'))
            fill_blocks(v.path('build/fill'))
            for name, text in old.items():
                write_until_full(v.path(name))
                true(v.read(name).startswith(text), f'{name}: what it was is still there')
            os.unlink(v.path('build/fill'))
            # the kernel tells the daemon a little later that nobody has it any more
            wait_for(lambda: os.statvfs(at).f_bavail * os.statvfs(at).f_frsize > MB, 'space')
            for name, text in old.items():
                os.truncate(v.path(name), len(text))
                equal(v.read(name), text, f'{name} once there is space')
            v.umount()
        equal(read_file(f'{root}/include/t.h'), b'trunk t\n', 'the trunk file')


def write_until_full(path):
    try:
        with open(path, 'ab', buffering=0) as f:
            for _ in range(100):
                f.write(b'z' * 65536)
    except OSError as e:
        equal(e.errno, errno.ENOSPC, f'errno of a write to {path}')
        return
    raise AssertionError(f'{path}: 6 MB went into a full layer')


def modes_of_fallocate():
    """As on the layer's own file system, which may lack some."""
    with view() as v:
        for way, (name, real) in files(v).items():
            fd = os.open(v.path(name), os.O_RDWR)
            os.ftruncate(fd, 0)
            os.pwrite(fd, b'0123456789abcdef' * 4096, 0)
            size = 16 * 4096
            fallocate(fd, 0, 0, 2 * size)
            equal(os.fstat(fd).st_size, 2 * size, f'{way}: allocated and longer')
            fallocate(fd, KEEP_SIZE, 0, 4 * size)
            st = os.fstat(fd)
            equal(st.st_size, 2 * size, f'{way}: allocated and not longer')
            true(st.st_blocks * 512 >= 4 * size, f'{way}: {st.st_blocks} blocks')
            compare_modes(fd, real, way)
            for mode in (PUNCH, 0x8000):  # a punch needs KEEP_SIZE; no such bit
                fails(errno.EOPNOTSUPP, fallocate, fd, mode, 0, 4096)
            fails(errno.EINVAL, fallocate, fd, 0, 0, 0)
            fails(errno.EINVAL, fallocate, fd, 0, -1, 5)
            os.close(fd)


def compare_modes(fd, real, way):
    """The same calls on a copy beside the real file: content and answers are the same."""
    twin = os.open(real + '.twin', os.O_RDWR | os.O_CREAT)
    os.pwrite(twin, read_file(real), 0)
    for mode in (PUNCH | KEEP_SIZE, ZERO, ZERO | KEEP_SIZE, COLLAPSE, INSERT):
        answers = []
        for f in (fd, twin):
            try:
                answers.append(fallocate(f, mode, 4096, 8192))
            except OSError as e:
                answers.append(e.errno)
        if answers[0] != errno.EOPNOTSUPP:  # FUSE passes on some modes only
            equal(answers[0], answers[1], f'{way}: answers to mode {mode:#x}')
            equal(os.fstat(fd).st_size, os.fstat(twin).st_size, f'{way}: size, mode {mode:#x}')
            true(os.pread(fd, MB, 0) == os.pread(twin, MB, 0), f'{way}: bytes, mode {mode:#x}')
        else:
            true(mode in (COLLAPSE, INSERT) or answers[1] == errno.EOPNOTSUPP,
                 f'{way}: mode {mode:#x} is passed on')
            os.pwrite(twin, os.pread(fd, MB, 0), 0)
            os.ftruncate(twin, os.fstat(fd).st_size)
    os.close(twin)
    os.unlink(real + '.twin')


def holes(fd):
    """[(start, end)] of the data of a file."""
    out, at, size = [], 0, os.fstat(fd).st_size
    while at < size:
        try:
            start = os.lseek(fd, at, os.SEEK_DATA)
        except OSError as e:
            equal(e.errno, errno.ENXIO, 'errno behind the last data')
            break
        at = os.lseek(fd, start, os.SEEK_HOLE)
        out.append((start, at))
    return out


def holes_are_told_and_kept_by_a_copy_up():

    def sparse(root):
        for name in ('doc/sparse', 'include/sparse.h'):
            with open(f'{root}/{name}', 'wb') as f:
                f.truncate(64 * MB)
                f.seek(20 * MB)
                f.write(b'middle')

    with view(dirty=sparse) as v:
        for name in ('doc/sparse', 'include/sparse.h'):
            with open(f'{v.root}/{name}', 'rb') as f:
                want = holes(f.fileno())
            fd = os.open(v.path(name), os.O_RDWR)
            equal(holes(fd), want, f'{name}: data')
            os.pwrite(fd, b'M', 20 * MB)  # copies one of them up
            equal(holes(fd), want, f'{name}: data after a write')
            true(os.fstat(fd).st_blocks * 512 < MB, f'{name}: it is still sparse')
            fails(errno.ENXIO, os.lseek, fd, 64 * MB, os.SEEK_DATA)
            equal(os.lseek(fd, 64 * MB - 1, os.SEEK_HOLE), 64 * MB - 1, f'{name}: in a hole')
            os.close(fd)


def ranges_are_copied_between_all_ways():
    with view() as v:
        table = files(v)
        for way in table:
            with open(v.path(table[way][0]), 'wb') as f:
                f.write(way.encode() * 3000)
        for a in table:
            for b in table:
                if a == b:
                    continue
                source = os.open(v.path(table[a][0]), os.O_RDONLY)
                target = os.open(v.path(table[b][0]), os.O_RDWR | os.O_TRUNC)
                want = os.pread(source, 20000, 7)
                done = 0
                while done < 20000:
                    n = os.copy_file_range(source, target, 20000 - done, 7 + done, 11 + done)
                    true(n > 0, f'{a} to {b}: {n} bytes')
                    done += n
                true(os.pread(target, 30000, 0) == bytes(11) + want, f'{a} to {b}: bytes')
                os.ftruncate(target, 0)
                os.pwrite(target, b.encode() * 3000, 0)
                os.close(source)
                os.close(target)


def shared(path):
    """Are blocks of a file shared with another?  Source: linux/fiemap.h."""
    n = 32
    request = bytearray(struct.pack('=QQIIII', 0, 2**64 - 1, 1, 0, n, 0) + bytes(56 * n))
    with open(path, 'rb') as f:
        fcntl.ioctl(f, 0xc020660b, request)
    mapped = struct.unpack_from('=I', request, 20)[0]
    return any(
        struct.unpack_from('=I', request, 32 + 56 * i + 40)[0] & 0x2000 for i in range(mapped))


def copies_share_blocks_where_the_layer_can():
    """FUSE has no FICLONE; copy_file_range, which cp uses then, and copy-up share all the same."""
    with LoopFs('xfs', 400) as at:
        root = os.path.join(at, 'checkout')
        make_tree({**TREE, 'doc/big': 'b' * 8 * MB, 'include/big.h': 'h' * 8 * MB}, root)
        commit_all(root)
        os.mkdir(os.path.join(at, 'scratch'))
        with View(root=root, backend='b', opts=['-p', 'flagtree', '-o', 'redirect=none'],
                  mount=False) as v:
            v.scratch = os.path.join(at, 'scratch')
            v.mount()
            os.mkdir(v.path('build'))
            for place in PLACES:
                subprocess.run(['cp', v.path('doc/big'), v.path(f'{place}/copy')], check=True)
                true(v.read(f'{place}/copy') == v.read('doc/big'), f'{place}: the copy')
                real = v.origin(f'{place}/copy')
                true(shared(real[real.index('/'):]), f'{place}: cp shares blocks')
                with open(v.path('doc/big')) as a, open(v.path(f'{place}/copy'), 'r+') as b:
                    result = LIBC.ioctl(b.fileno(), ctypes.c_ulong(FICLONE), a.fileno())
                    true(result == 0 or ctypes.get_errno() in (errno.EOPNOTSUPP, errno.ENOTTY),
                         f'{place}: FICLONE says {ctypes.get_errno()}')
                subprocess.run(['cp', '--reflink=auto', v.path('include/big.h'),
                                v.path(f'{place}/copy')], check=True)
                true(v.read(f'{place}/copy') == v.read('include/big.h'), f'{place}: over it')
            with open(v.path('include/big.h'), 'ab') as f:
                f.write(b'end')
            real = v.origin('include/big.h')
            true(shared(real[real.index('/'):]), 'copy-up shares blocks')
            true(v.read('include/big.h') == b'h' * 8 * MB + b'end', 'what was appended')
            v.umount()


as_asked()
main(a_full_layer_is_told_early, modes_of_fallocate, holes_are_told_and_kept_by_a_copy_up,
     ranges_are_copied_between_all_ways, copies_share_blocks_where_the_layer_can)
