# SPDX-License-Identifier: MIT
"""The flags of open, and what a descriptor may do after others changed name, mode or content; also
underneath, and by processes that race for a name or for the end of a file."""
import errno
import mmap
import os
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from children import start, statuses  # noqa: E402
from daemontree import PLACES, shows, view  # noqa: E402
from mounted import View, equal, fails, main, read_file, true, wait_for, write_file  # noqa: E402
from private import as_asked  # noqa: E402
from routes import files  # noqa: E402

IDLE_SEC = 1.3  # longer than the daemon keeps a descriptor for writing without a reason


def flags_do_what_they_say():
    with view() as v:
        table = files(v)
        os.symlink('t.txt', v.path('doc/link'))
        for way, (name, _) in table.items():
            path = v.path(name)
            fails(errno.EEXIST, os.open, path, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
            fails(errno.ENOTDIR, os.open, path, os.O_RDONLY | os.O_DIRECTORY)
            fails(errno.ENOTDIR, os.open, path + '/', os.O_RDONLY)
            with open(os.open(path, os.O_RDONLY | os.O_NOATIME)) as f:
                true(f.read(), f'{way}: O_NOATIME')
            fd = os.open(path, os.O_PATH)
            fails(errno.EBADF, os.read, fd, 1)
            equal(os.stat(f'/proc/self/fd/{fd}').st_ino, os.stat(path).st_ino, f'{way}: O_PATH')
            os.close(fd)
            fd = os.open(path, os.O_WRONLY | os.O_SYNC)
            equal(os.write(fd, b'sync'), 4, f'{way}: O_SYNC')
            fails(errno.EBADF, os.read, fd, 1)
            os.close(fd)
            with open(path, 'rb') as f:
                fails(errno.EBADF, os.write, f.fileno(), b'x')
                fails(errno.EINVAL, os.ftruncate, f.fileno(), 0)
        fails(errno.ELOOP, os.open, v.path('doc/link'), os.O_RDONLY | os.O_NOFOLLOW)
        fails(errno.EEXIST, os.open, v.path('doc/link'), os.O_CREAT | os.O_EXCL | os.O_WRONLY)
        for place in PLACES:
            fails(errno.EISDIR, os.open, v.path(place), os.O_RDWR)
            fails(errno.EISDIR, os.open, v.path(place), os.O_RDONLY | os.O_CREAT)


def direct_io_works():
    size = 3 * 4096
    with view() as v:
        for way, (name, real) in files(v).items():
            fd = os.open(v.path(name), os.O_RDWR | os.O_DIRECT)
            with mmap.mmap(-1, size) as block:
                block[:] = b'direct'.ljust(8, b'.') * (size // 8)
                equal(os.pwritev(fd, [block], 0), size, f'{way}: written')
                equal(read_file(real) == block[:], True, f'{way}: in the layer')
                with mmap.mmap(-1, size) as got:
                    equal(os.preadv(fd, [got], 0), size, f'{way}: read')
                    equal(got[:] == block[:], True, f'{way}: bytes')
                with open(v.path(name), 'r+b') as f:
                    equal(f.read(6), b'direct', f'{way}: through the cache')
                    f.seek(4096)
                    f.write(b'cached')
                with mmap.mmap(-1, 4096) as got:
                    os.preadv(fd, [got], 4096)
                    equal(got[:6], b'cached', f'{way}: read past the cache')
            os.close(fd)


def append(path, who, count):
    fd = os.open(path, os.O_WRONLY | os.O_APPEND)
    for i in range(count):
        os.write(fd, b'%s %04d\n' % (who, i))


def appenders_above_and_underneath_lose_nothing():
    """Three processes at once, one of them in the layer."""
    with view() as v:
        for way, (name, real) in files(v).items():
            with open(v.path(name), 'r+b') as f:
                f.write(b'\n')  # copied up by now
                f.truncate(1)
            pids = [start(append, path, who, 250) for path, who in
                    ((v.path(name), b'one'), (v.path(name), b'two'), (real, b'layer'))]
            equal(statuses(pids), [0] * 3, f'{way}: appenders')
            lines = read_file(real).split(b'\n')[1:-1]
            for who in (b'one', b'two', b'layer'):
                equal([x for x in lines if x.startswith(who)],
                      [b'%s %04d' % (who, i) for i in range(250)], f'{way}: lines of {who}')
            equal(len(lines), 750, f'{way}: lines')
            if way != 'new in scratch':  # scratch is the mount's alone
                v.cli('sync', v.mnt)
                equal(v.read(name) == read_file(real), True, f'{way}: the view')


def a_name_made_underneath_meanwhile():
    """The kernel remembers that it is missing: O_CREAT opens it, O_EXCL refuses."""
    with view() as v:
        for i in range(20):
            path, real = v.path(f'doc/n{i}'), f'{v.root}/doc/n{i}'
            true(not os.path.exists(path), 'looked for')
            write_file(real, 'underneath\n')
            if i % 2:
                fd = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
                os.write(fd, b'mount\n')
                os.close(fd)
                equal(read_file(real), b'underneath\nmount\n', 'both')
            else:
                fails(errno.EEXIST, os.open, path, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
                equal(read_file(real), b'underneath\n', 'untouched')


def put_others_there(top, own, end):
    """Underneath: as soon as a name appears, a file or a directory takes its place."""
    i = 0
    while time.monotonic() < end:
        path = f'{top}/r{i}'
        if not os.path.lexists(path):
            continue
        if i % 2:
            write_file(f'{own}/foreign', 'foreign')
            os.rename(f'{own}/foreign', path)
        else:
            os.unlink(path)
            os.mkdir(path)
        i += 1
    return 0 if i > 5 else 1


def a_file_just_made_is_not_taken_for_what_replaces_it():
    """Its maker writes to what it made, and nothing of the other file changes."""
    with view() as v:
        end = time.monotonic() + 4
        os.mkdir(f'{v.root}/own')
        pid = start(put_others_there, f'{v.root}/doc', f'{v.root}/own', end)
        for i in range(100000):
            if time.monotonic() >= end:
                break
            fd = os.open(v.path(f'doc/r{i}'), os.O_CREAT | os.O_EXCL | os.O_WRONLY)
            os.write(fd, b'mine, and longer')
            os.close(fd)
            real = f'{v.root}/doc/r{i}'
            wait_for(lambda: os.path.isdir(real) or time.monotonic() >= end
                     or i % 2 and read_file(real) == b'foreign', f'round {i}: the other, whole')
        equal(statuses([pid]), [0], 'the one underneath')


def the_first_look_counts_while_the_root_changes():
    """The kernel has no mode of the root before it, and drops what it is told during a change."""
    for _ in range(25):
        with View({'doc/a': 'x'}, use_git=False) as v:
            end = threading.Event()

            def change(root=v.root, end=end):
                i = 0
                while not end.is_set():
                    os.mkdir(f'{root}/n{i}')
                    i += 1

            changer = threading.Thread(target=change)
            changer.start()
            try:
                for _ in range(20):
                    os.stat(v.path('doc/a'))
            finally:
                end.set()
                changer.join()


def a_creator_may_write_whatever_the_mode():
    """As git, tar and install do it; slowly, through a map, and after the name is gone."""
    with view() as v:
        os.mkdir(v.path('build'))
        for place in PLACES:
            for mode in (0o444, 0o400, 0o200, 0o000):
                path = v.path(f'{place}/c{mode:o}')
                fd = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, mode)
                os.write(fd, b'first ')
                if mode == 0:
                    time.sleep(IDLE_SEC)
                os.write(fd, b'second ')
                os.fsync(fd)
                os.ftruncate(fd, 4096)
                with mmap.mmap(fd, 4096) as m:
                    m[13:18] = b'third'
                os.rename(path, path + '.new')
                os.pwrite(fd, b'last', 4000)
                equal(os.pread(fd, 18, 0), b'first second third', f'{path}: read back')
                equal(os.fstat(fd).st_mode & 0o777, mode, f'{path}: mode')
                os.unlink(path + '.new')
                os.pwrite(fd, b'gone', 0)
                equal(os.pread(fd, 4, 0), b'gone', f'{path}: without a name')
                os.close(fd)


def a_mode_lost_while_open():
    """Through the mount: reading and writing go on, late dirty pages of a map too."""
    with view() as v:
        for way, (name, real) in files(v).items():
            fd = os.open(v.path(name), os.O_RDWR)
            m = mmap.mmap(fd, os.fstat(fd).st_size)
            os.chmod(v.path(name), 0)
            m[0:4] = b'LATE'
            m.flush()
            equal(os.pread(fd, 4, 0), b'LATE', f'{way}: read')
            os.pwrite(fd, b'MORE', 0)
            os.ftruncate(fd, 5)
            m.close()
            os.close(fd)
            os.chmod(v.path(name), 0o600)
            equal(read_file(real)[:4], b'MORE', f'{way}: in the layer')
            equal(os.stat(real).st_size, 5, f'{way}: size')


def a_mode_lost_underneath_while_open():
    """A daemon without root's rights may not open it again: then it says so, and nothing else."""
    with view() as v:
        for path in ('doc/t.txt', 'include/both.h'):
            fd = os.open(v.path(path), os.O_RDWR)
            old = os.pread(fd, 100, 0)
            real = v.origin(path)
            real = real[real.index('/'):]
            os.chmod(real, 0)
            wait_for(lambda: os.fstat(fd).st_mode & 0o777 == 0, f'{path}: the mode shows')
            time.sleep(IDLE_SEC)
            for call in (lambda: os.pread(fd, 100, 0), lambda: os.pwrite(fd, old[:1], 0)):
                try:
                    true(call() in (old, 1), f'{path}: right if at all')
                except OSError as e:
                    equal((e.errno, os.geteuid() != 0), (errno.EACCES, True), f'{path}: {e}')
            os.chmod(real, 0o600)
            equal(read_file(real), old, f'{path}: content')
            os.close(fd)


def a_file_replaced_while_open_is_saved_by_name():
    """What an editor does that keeps a file open while another program replaces it."""
    with view() as v:
        for name, real in (('doc/t.txt', f'{v.root}/doc/t.txt'), ('include/both.h', None)):
            origin = v.origin(name)
            real = real or origin[origin.index('/'):]
            fd = os.open(v.path(name), os.O_RDWR)
            before = os.fstat(fd)
            os.pread(fd, 100, 0)
            write_file(real + '.tmp', 'the newer version, longer\n')
            os.rename(real + '.tmp', real)
            wait_for(lambda: os.stat(v.path(name)).st_ino != before.st_ino, f'{name}: by path')
            st = os.stat(v.path(name))
            equal(st.st_size, 26, f'{name}: size by path')
            true(st.st_mtime_ns != before.st_mtime_ns, f'{name}: time by path')
            equal((os.fstat(fd).st_ino, os.fstat(fd).st_size), (before.st_ino, before.st_size),
                  f'{name}: by descriptor')
            equal(v.read(name), b'the newer version, longer\n', f'{name}: opened again')
            os.pwrite(fd, b'to the old one', 0)
            equal(read_file(real), b'the newer version, longer\n', f'{name}: the new one is whole')
            os.close(fd)


def one_that_was_never_read_is_refused_once_it_is_replaced():
    """The daemon does not know that it is open, and has lost it: never the new file's data."""
    with view() as v:
        fd = os.open(v.path('doc/t.txt'), os.O_RDWR)
        write_file(f'{v.root}/doc/new', 'REPLACED, AND LONGER\n')
        os.rename(f'{v.root}/doc/new', f'{v.root}/doc/t.txt')
        shows(lambda: v.read('doc/t.txt'), b'REPLACED, AND LONGER\n', 'the name')
        for call in (lambda: os.pread(fd, 100, 0), lambda: os.pwrite(fd, b'x', 0)):
            try:
                true(call() in (b'trunk text\n', 1), 'the old file')
            except OSError as e:
                equal(e.errno, errno.ESTALE, 'or none')
        equal(read_file(f'{v.root}/doc/t.txt'), b'REPLACED, AND LONGER\n', 'the new one')
        os.close(fd)


as_asked()
main(flags_do_what_they_say, direct_io_works, appenders_above_and_underneath_lose_nothing,
     a_name_made_underneath_meanwhile, a_file_just_made_is_not_taken_for_what_replaces_it,
     the_first_look_counts_while_the_root_changes,
     a_creator_may_write_whatever_the_mode,
     a_mode_lost_while_open, a_mode_lost_underneath_while_open,
     a_file_replaced_while_open_is_saved_by_name,
     one_that_was_never_read_is_refused_once_it_is_replaced)
