# SPDX-License-Identifier: MIT
"""Limits: names of 255 bytes, paths deeper than PATH_MAX, many descriptors and maps, big loops; on
every way of a write, and what is hidden keeps no name from being that long."""
import errno
import json
import mmap
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from daemontree import PLACES, SPEC, shows, view  # noqa: E402
from mounted import equal, fails, main, read_file, run, true, write_file  # noqa: E402
from private import as_asked  # noqa: E402

LONG, OTHER, TOO_LONG = 'a' * 255, 'a' * 254 + 'b', 'a' * 256
DEEPER, DEPTH = 'deeper-and-' + 'd' * 190, 25  # five thousand bytes


def status(v):
    return json.loads(v.read('.specfs/status'))


def the_longest_names_are_names_as_others():
    """Of trunk, of the backend and new: hidden, made again, renamed, linked, listed."""

    def plant(root):
        for place in ('doc', 'include', SPEC):
            write_file(f'{root}/{place}/{LONG}', f'in {place}\n')

    with view(dirty=plant) as v:
        os.mkdir(v.path('build'))
        v.write(f'build/{LONG}', 'in build\n')
        for place in PLACES:
            path = v.path(f'{place}/{LONG}')
            os.unlink(path)
            true(not os.path.lexists(path), f'{place}: removed')
            true(LONG not in v.listdir(place), f'{place}: not listed')
            v.write(f'{place}/{LONG}', 'again\n')
            os.rename(path, v.path(f'{place}/{OTHER}'))
            os.link(v.path(f'{place}/{OTHER}'), path)
            os.symlink(LONG, v.path(f'{place}/{"l" * 255}'))
            os.mkdir(v.path(f'{place}/{"d" * 255}'))
            os.mkfifo(v.path(f'{place}/{"p" * 255}'))
            os.setxattr(path, 'user.a', b'1')
            for name in (LONG, OTHER, 'l' * 255, 'd' * 255, 'p' * 255):
                true(name in v.listdir(place), f'{place}: {name[0]}... is listed')
            fails(errno.ENAMETOOLONG, os.mkdir, v.path(f'{place}/{TOO_LONG}'))
            fails(errno.ENAMETOOLONG, os.rename, path, v.path(f'{place}/{TOO_LONG}'))
            fails(errno.ENAMETOOLONG, os.lstat, v.path(f'{place}/{TOO_LONG}'))
            equal(os.statvfs(v.path(place)).f_namemax, 255, f'{place}: namemax')
        v.remount()
        for place in PLACES:
            equal(v.read(f'{place}/{LONG}'), b'again\n', f'{place}: after a remount')
            equal(v.read(f'{place}/{OTHER}'), b'again\n', f'{place}: the other name')
            os.unlink(v.path(f'{place}/{LONG}'))
        v.remount()
        for place in PLACES:
            true(not v.exists(f'{place}/{LONG}'), f'{place}: it stays gone')
        equal(read_file(f'{v.root}/include/{LONG}'), b'in include\n', 'the trunk has its own')


def names_of_any_bytes():
    """No encoding, no character but / and NUL is special."""
    names = [b'\xff\xfe', b'new\nline', b' ', b'-rf', b'a\\b', b'*?[', b'\x01', 'ä€😀'.encode(),
             b'.specfs-x', b'con:', b'"quoted"', b"it's", b'#hash', b'!bang', b'~']
    with view() as v:
        os.mkdir(v.path('build'))
        for place in PLACES:
            top = os.fsencode(v.path(f'{place}/odd'))
            os.mkdir(top)
            for name in names:
                write_file(os.path.join(top, name).decode('utf-8', 'surrogateescape'), 'x')
            equal(sorted(os.listdir(top)), sorted(names), f'{place}: listed')
        v.remount()
        for place in PLACES:
            top = os.fsencode(v.path(f'{place}/odd'))
            equal(sorted(os.listdir(top)), sorted(names), f'{place}: after a remount')
            for name in names:
                os.unlink(os.path.join(top, name))
            os.rmdir(top)
            true(not os.path.lexists(top), f'{place}: removed')


def removed_trunk_names_of_any_bytes_stay_gone():
    """A hide list is lines of patterns: what a pattern would mean must be taken literally."""
    names = ['*', '?', '[a]', 'a\\b', ' lead', 'trail ', '#hash', '!bang', 'a', 'b c', 'new\nline',
             '**', '\\', 'x\r', '\udcff']

    def plant(root):
        for name in names:
            write_file(f'{root}/include/odd/{name}', 'x')

    with view(dirty=plant) as v:
        left = set(names)
        for name in names:
            os.unlink(v.path(f'include/odd/{name}'))
            left.remove(name)
            equal(set(os.listdir(v.path('include/odd'))), left, f'after removing {name!r}')
        v.write('include/odd/*', 'new\n')
        equal(os.listdir(v.path('include/odd')), ['*'], 'made again')
        v.remount()
        equal(os.listdir(v.path('include/odd')), ['*'], 'after a remount')
        equal(set(os.listdir(f'{v.root}/include/odd')), set(names), 'the trunk has them all')


def chain(top, depth):
    """A descriptor of the directory @depth levels down; makes them."""
    fd = os.open(top, os.O_RDONLY | os.O_DIRECTORY)
    for _ in range(depth):
        try:
            os.mkdir(DEEPER, dir_fd=fd)
        except FileExistsError:
            pass
        fd, old = os.open(DEEPER, os.O_RDONLY | os.O_DIRECTORY, dir_fd=fd), fd
        os.close(old)
    return fd


def paths_longer_than_any_call_takes():
    """Made in the mount and underneath; relative calls work, absolute ones say ENAMETOOLONG."""

    def plant(root):
        os.makedirs(f'{root}/doc/under')
        fd = chain(f'{root}/doc/under', DEPTH)
        with open(os.open('f', os.O_CREAT | os.O_WRONLY, dir_fd=fd), 'w', encoding='utf-8') as f:
            f.write('deep')
        os.close(fd)

    with view(dirty=plant, use_git=False) as v:
        os.mkdir(v.path('build'))
        here = os.getcwd()
        for place in ('doc/under', 'build', 'doc', 'include'):
            fd = chain(v.path(place), DEPTH)
            if place != 'doc/under':
                with open(os.open('f', os.O_CREAT | os.O_WRONLY, dir_fd=fd), 'w',
                          encoding='utf-8') as f:
                    f.write('deep')
            with open(os.open('f', os.O_RDONLY, dir_fd=fd), encoding='utf-8') as f:
                equal(f.read(), 'deep', f'{place}: a file {DEPTH} directories down')
            os.rename('f', 'g', src_dir_fd=fd, dst_dir_fd=fd)
            equal(os.listdir(fd), ['g'], f'{place}: listed')
            os.fchdir(fd)
            try:
                below = f'{place}/' + f'{DEEPER}/' * DEPTH + 'g'
                fails(errno.ENAMETOOLONG, os.lstat, v.path(below))
                equal(os.stat('g').st_size, 4, f'{place}: relative to the working directory')
            finally:
                os.chdir(here)
                os.close(fd)
            run(['rm', '-r', v.path(f'{place}/{DEEPER}')])
            true(not v.exists(f'{place}/{DEEPER}'), f'{place}: removed from the top')
        true(v.read('doc/t.txt') == b'trunk text\n', 'the daemon is alive')


def maps_of_many_files_hold_no_descriptors():
    """As a linker does with its inputs: mapped, closed, the maps kept."""
    count = 1200

    def plant(root):
        for i in range(count):
            write_file(f'{root}/doc/many/d{i % 30}/f{i}', f'text {i}')

    with view(dirty=plant, use_git=False) as v:
        limit = status(v)['cache']['max_files']
        maps = []
        for i in range(count):
            with open(v.path(f'doc/many/d{i % 30}/f{i}'), 'rb') as f:
                maps.append(mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ))
        pid = status(v)['pid']
        open_now = len(os.listdir(f'/proc/{pid}/fd'))
        true(status(v)['cache']['open_files'] <= limit, 'open files are bounded')
        true(open_now <= limit + 300, f'{open_now} descriptors with a bound of {limit}')
        for i, m in enumerate(maps):
            equal(m[:], f'text {i}'.encode(), f'map {i}')
            m.close()


def a_file_of_many_gigabytes_is_sparse():
    size = 5 << 30
    with view() as v:
        os.mkdir(v.path('build'))
        for place in PLACES:
            with open(v.path(f'{place}/big'), 'w+b') as f:
                f.seek(size)
                f.write(b'end')
                f.seek(size - 2)
                equal(f.read(), b'\0\0end', f'{place}: its end')
            equal(os.stat(v.path(f'{place}/big')).st_size, size + 3, f'{place}: size')
            true(os.stat(v.path(f'{place}/big')).st_blocks < 1000, f'{place}: sparse')
        write_file(f'{v.root}/include/huge.h', '')
        os.truncate(f'{v.root}/include/huge.h', size)
        shows(lambda: os.stat(v.path('include/huge.h')).st_size, size, 'a big trunk file')
        with open(v.path('include/huge.h'), 'r+b') as f:
            f.write(b'start')
        st = os.stat(f'{v.root}/{SPEC}/huge.h')
        equal((st.st_size, st.st_blocks < 1000), (size, True), 'copied up with its holes')


as_asked()
main(the_longest_names_are_names_as_others, names_of_any_bytes,
     removed_trunk_names_of_any_bytes_stay_gone, paths_longer_than_any_call_takes,
     maps_of_many_files_hold_no_descriptors, a_file_of_many_gigabytes_is_sparse)
