# SPDX-License-Identifier: MIT
"""Every system call of a file system, common or rare, on every way of a write: it is answered with
what the manual pages allow, and the daemon lives on."""
import ctypes
import errno
import fcntl
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from daemontree import PLACES, view  # noqa: E402
from mounted import equal, main, true  # noqa: E402
from routes import files  # noqa: E402

LIBC = ctypes.CDLL(None, use_errno=True)
AT_FDCWD = -100
NOREPLACE, EXCHANGE, WHITEOUT = 1, 2, 4
# what a file system may say to a call that it does not know
UNKNOWN = {errno.EOPNOTSUPP, errno.ENOSYS, errno.ENOTTY, errno.EINVAL, errno.EPERM}
IOCTLS = {
    'FS_IOC_GETFLAGS': 0x80086601,
    'FS_IOC_SETFLAGS': 0x40086602,
    'FS_IOC_GETVERSION': 0x80087601,
    'FS_IOC_FSGETXATTR': 0x801c581f,
    'FS_IOC_FIEMAP': 0xc020660b,
    'FIBMAP': 1,
    'FIGETBSZ': 2,
    'FIONREAD': 0x541b,
    'FITRIM': 0xc0185879,
    'FICLONE': 0x40049409,
    'FIDEDUPERANGE': 0xc0189436,
    'TCGETS': 0x5401,
    'FS_IOC_ENABLE_VERITY': 0x40806685,
    'no such': 0x12345678,
}


def call(name, *args):
    """A function of libc by name; 0 or the errno."""
    return 0 if getattr(LIBC, name)(*args) >= 0 else ctypes.get_errno()


def renameat2(a, b, flags):
    return call('renameat2', AT_FDCWD, os.fsencode(a), AT_FDCWD, os.fsencode(b), flags)


def alive(v, what):
    true(v.read('doc/sub/u.txt') == b'trunk u\n' and v.daemon.poll() is None,
         f'the daemon is alive after {what}')


def ioctls_are_answered():
    with view() as v:
        table = [name for name, _ in files(v).values()] + ['doc', '']
        for name in table:
            fd = os.open(v.path(name), os.O_RDONLY)
            for what, number in IOCTLS.items():
                try:
                    fcntl.ioctl(fd, number, bytearray(256))
                except OSError as e:
                    true(e.errno in UNKNOWN | {errno.EBADF, errno.EISDIR, errno.EFAULT,
                                               errno.EACCES}, f'{name}: {what} says {e}')
            os.close(fd)
        alive(v, 'ioctls')


def flags_of_rename_are_kept_or_refused():
    with view() as v:
        names = [name for name, _ in files(v).values()]
        for a in names:
            for b in names:
                if a == b:
                    continue
                texts = [v.read(a), v.read(b)]
                for flags in (NOREPLACE, EXCHANGE, WHITEOUT, NOREPLACE | EXCHANGE, 8, 0x80000000):
                    r = renameat2(v.path(a), v.path(b), flags)
                    if flags == NOREPLACE:
                        equal(r, errno.EEXIST, f'{a}, {b}: NOREPLACE')
                    elif flags == EXCHANGE and not r:
                        equal([v.read(b), v.read(a)], texts, f'{a}, {b}: exchanged')
                        equal(renameat2(v.path(a), v.path(b), flags), 0, f'{a}, {b}: and back')
                    else:
                        true(r in UNKNOWN, f'{a}, {b}: flags {flags:#x} say {r}')
                    equal([v.read(a), v.read(b)], texts, f'{a}, {b}: after flags {flags:#x}')
        alive(v, 'renames')


def one_call_after_the_other():
    """touch, chmod, ln, mkfifo, truncate, xattrs, statfs, access, sync: no surprise."""
    with view() as v:
        os.mkdir(v.path('build'))
        for place in PLACES:
            at = v.path(place)
            for step in steps(at):
                try:
                    step()
                except OSError as e:
                    raise AssertionError(f'{place}: {e}') from None
            equal([n for n in os.listdir(at) if n.startswith('x')], [], f'{place}: left')
        alive(v, 'all of it')


def steps(at):
    """The calls, in an order in which each must succeed."""
    x, y, d = (os.path.join(at, n) for n in ('x', 'x2', 'xd'))
    stat_fs = {}
    return [
        lambda: os.mknod(x, 0o100644),
        lambda: os.utime(x),
        lambda: os.truncate(x, 100000),
        lambda: os.chmod(x, 0o600),
        lambda: os.chown(x, os.getuid(), os.getgid()),
        lambda: os.setxattr(x, 'user.a', b'1'),
        lambda: os.listxattr(x),
        lambda: os.removexattr(x, 'user.a'),
        lambda: os.link(x, y),
        lambda: os.rename(x, y),  # two names of one file: nothing happens
        lambda: os.unlink(x),
        lambda: os.rename(y, x),
        lambda: os.access(x, os.R_OK | os.W_OK),
        lambda: stat_fs.update(a=os.statvfs(x)),
        lambda: true(stat_fs['a'].f_bsize > 0, 'block size'),
        lambda: descriptor_calls(x),
        lambda: os.mkdir(d),
        lambda: os.symlink('nowhere', y),
        lambda: os.rename(x, os.path.join(d, 'moved')),
        lambda: os.rename(os.path.join(d, 'moved'), x),
        lambda: os.readlink(y),
        lambda: os.unlink(y),
        lambda: os.mkfifo(y),
        lambda: os.unlink(y),
        lambda: sync_directory(d),
        lambda: os.rmdir(d),
        lambda: os.unlink(x),
    ]


def descriptor_calls(path):
    fd = os.open(path, os.O_RDWR)
    try:
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_WILLNEED)
        os.posix_fallocate(fd, 0, 200000)
        for whence in (os.SEEK_DATA, os.SEEK_HOLE):
            os.lseek(fd, 0, whence)
        os.pwritev(fd, [b'a', b'b'], 5)
        os.preadv(fd, [bytearray(3), bytearray(4)], 3)
        equal(call('sync_file_range', fd, ctypes.c_int64(0), ctypes.c_int64(0), 7), 0, 'sync range')
        equal(call('syncfs', fd), 0, 'syncfs')
        equal(call('readahead', fd, ctypes.c_int64(0), ctypes.c_size_t(10)), 0, 'readahead')
        os.copy_file_range(fd, fd, 10, 0, 1000)
        r, w = os.pipe()
        equal(os.splice(fd, w, 20, offset_src=0), 20, 'splice from the file')
        equal(os.splice(r, fd, 20, offset_dst=500), 20, 'splice to the file')
        os.close(r)
        os.close(w)
        os.sendfile(fd, fd, 0, 10)
        os.fchmod(fd, 0o644)
        os.utime(fd, (5, 6))
        os.fdatasync(fd)
        os.fsync(fd)
        os.ftruncate(fd, 0)
        fcntl.fcntl(fd, fcntl.F_SETFL, os.O_APPEND)
        os.write(fd, b'end')
    finally:
        os.close(fd)


def sync_directory(path):
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    os.fsync(fd)
    os.close(fd)


def odd_arguments_are_refused():
    with view() as v:
        for way, (name, _) in files(v).items():
            path = v.path(name)
            fd = os.open(path, os.O_RDWR)
            for what, wrong in (
                ('write far away', lambda: os.pwrite(fd, b'x', 2**63 - 10)),
                ('truncate below zero', lambda: os.ftruncate(fd, -1)),
                ('truncate far away', lambda: os.ftruncate(fd, 2**63 - 1)),
                ('seek below zero', lambda: os.lseek(fd, -1, os.SEEK_SET)),
                ('a value too big', lambda: os.setxattr(path, 'user.a', b'x' * 70000)),
                ('an attribute of no kind', lambda: os.setxattr(path, 'nokind.a', b'x')),
                ('a name too long', lambda: os.setxattr(path, 'user.' + 'a' * 300, b'x')),
                ('below a file', lambda: os.mkdir(path + '/d')),
                ('a directory over a file', lambda: os.rename(v.path('doc/sub'), path)),
            ):
                try:
                    wrong()
                    raise AssertionError(f'{way}: {what} succeeded')
                except OSError as e:
                    true(e.errno in (errno.EINVAL, errno.EFBIG, errno.E2BIG, errno.ERANGE,
                                     errno.EOPNOTSUPP, errno.ENOTDIR, errno.ENOSPC),
                         f'{way}: {what} says {e}')
            os.close(fd)
        for place in ('doc', 'include'):
            try:
                os.rename(v.path(place), v.path(f'{place}/below'))
                raise AssertionError('a directory was moved into itself')
            except OSError as e:
                equal(e.errno, errno.EINVAL, f'{place}: into itself')
        alive(v, 'odd arguments')


def big_requests_come_whole():
    """Vectors and reads of many megabytes are cut into requests and put together again."""
    data = struct.pack('<I', 7) * (3 << 20)
    with view() as v:
        for way, (name, _) in files(v).items():
            fd = os.open(v.path(name), os.O_RDWR | os.O_TRUNC)
            equal(os.writev(fd, [data[:5], data[5:1 << 20], data[1 << 20:]]), len(data), way)
            got = bytearray(len(data) + 10)
            equal(os.preadv(fd, [got], 0), len(data), f'{way}: read at once')
            true(got[:len(data)] == data, f'{way}: bytes')
            os.close(fd)
            os.truncate(v.path(name), 10)


main(ioctls_are_answered, flags_of_rename_are_kept_or_refused, one_call_after_the_other,
     odd_arguments_are_refused, big_requests_come_whole)
