# SPDX-License-Identifier: MIT
"""Open files stay what they are: unlinked, replaced, renamed, changed in mode, edited underneath.

The kernel tells the daemon neither of opens nor of closes, so all of this is the daemon's own care.
"""
import errno
import fcntl
import mmap
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from daemontree import PLACES, SPEC, shows, view  # noqa: E402
from mounted import equal, fails, main, read_file, true, wait_for, write_file  # noqa: E402
from private import as_asked  # noqa: E402


def fresh(v, place, name, text='old text\n'):
    v.write(f'{place}/{name}', text)
    return v.path(f'{place}/{name}')


def an_unlinked_file_lives_on():
    with view() as v:
        for place in PLACES:
            path = fresh(v, place, 'f')
            fd = os.open(path, os.O_RDWR)
            os.unlink(path)
            equal(os.pread(fd, 100, 0), b'old text\n', f'{place}: read')
            os.pwrite(fd, b'new', 0)
            equal(os.pread(fd, 100, 0), b'new text\n', f'{place}: read after a write')
            st = os.fstat(fd)
            equal((st.st_nlink, st.st_size), (0, 9), f'{place}: links and size')
            os.ftruncate(fd, 3)
            os.fchmod(fd, 0o600)
            equal((os.fstat(fd).st_size, os.fstat(fd).st_mode & 0o777), (3, 0o600),
                  f'{place}: fstat')
            os.close(fd)
            true(not os.path.exists(path), f'{place}: the name is gone')


def a_hidden_file_is_not_written_to():
    """Unlinking a trunk file of a mapped place only hides it: an open one must not change trunk."""
    with view() as v:
        fd = os.open(v.path('include/t.h'), os.O_RDWR)
        os.unlink(v.path('include/t.h'))
        os.pwrite(fd, b'NOISY', 0)
        equal(os.pread(fd, 100, 0), b'NOISY t\n', 'through the descriptor')
        equal(os.fstat(fd).st_nlink, 0, 'links')
        os.close(fd)
        equal(read_file(v.root + '/include/t.h'), b'trunk t\n', 'the trunk file')


def a_replaced_file_lives_on():
    with view() as v:
        for place in PLACES:
            path = fresh(v, place, 'f')
            other = fresh(v, place, 'g', 'other text\n')
            fd = os.open(path, os.O_RDWR)
            os.rename(other, path)
            equal(os.pread(fd, 100, 0), b'old text\n', f'{place}: the old file')
            os.pwrite(fd, b'OLD', 0)
            equal(os.pread(fd, 100, 0), b'OLD text\n', f'{place}: the old file after a write')
            equal(read_file(path), b'other text\n', f'{place}: the name')
            os.close(fd)


def a_file_replaced_underneath_lives_on():
    with view() as v:
        fd = os.open(v.path('doc/t.txt'), os.O_RDONLY)
        equal(os.pread(fd, 5, 0), b'trunk', 'before')
        write_file(v.root + '/doc/new', 'replaced\n')
        os.rename(v.root + '/doc/new', v.root + '/doc/t.txt')
        shows(lambda: v.read('doc/t.txt'), b'replaced\n', 'the name')
        equal(os.pread(fd, 100, 0), b'trunk text\n', 'the descriptor')
        shows(lambda: os.fstat(fd).st_nlink, 0, 'links of the old file')
        os.close(fd)


def an_edit_underneath_is_seen_by_open_files():
    with view() as v:
        fd = os.open(v.path('doc/t.txt'), os.O_RDONLY)
        equal(os.pread(fd, 100, 0), b'trunk text\n', 'before')
        with open(v.root + '/doc/t.txt', 'r+') as f:
            f.write('TRUNK text, longer\n')
        wait_for(lambda: os.pread(fd, 100, 0) == b'TRUNK text, longer\n', 'the descriptor shows it')
        os.close(fd)


def a_renamed_file_is_written_to():
    with view() as v:
        os.mkdir(v.path('build'))
        for a, b in [(p, q) for p in PLACES for q in PLACES]:
            path = fresh(v, a, 'one')
            fd = os.open(path, os.O_RDWR)
            os.pwrite(fd, b'A', 0)
            os.rename(path, v.path(f'{b}/two'))
            os.pwrite(fd, b'B', 1)
            equal(v.read(f'{b}/two'), b'ABd text\n', f'{a} to {b}')
            equal(os.pread(fd, 100, 0), b'ABd text\n', f'{a} to {b}: the descriptor')
            os.close(fd)
            os.unlink(v.path(f'{b}/two'))


def a_file_below_a_renamed_directory_is_written_to():
    with view() as v:
        fd = os.open(v.path('doc/sub/u.txt'), os.O_RDWR)
        os.pwrite(fd, b'T', 0)
        os.rename(v.path('doc/sub'), v.path('include/sub2'))
        os.pwrite(fd, b'R', 1)
        equal(v.read('include/sub2/u.txt'), b'TRunk u\n', 'moved to the backend')
        os.rename(v.path('include/sub2'), v.path('doc/sub3'))
        os.pwrite(fd, b'U', 2)
        equal(v.read('doc/sub3/u.txt'), b'TRUnk u\n', 'moved back')
        equal(os.pread(fd, 100, 0), b'TRUnk u\n', 'the descriptor')
        os.close(fd)


def readers_see_what_a_copy_up_wrote():
    with view() as v:
        reader = os.open(v.path('include/t.h'), os.O_RDONLY)
        equal(os.pread(reader, 100, 0), b'trunk t\n', 'before')
        mapped = mmap.mmap(reader, 8, prot=mmap.PROT_READ)
        with open(v.path('include/t.h'), 'r+') as f:
            f.write('TRUNK')
        equal(os.pread(reader, 100, 0), b'TRUNK t\n', 'a descriptor from before')
        equal(mapped[:], b'TRUNK t\n', 'a map from before')
        equal(read_file(v.root + '/include/t.h'), b'trunk t\n', 'the trunk file')
        equal(read_file(f'{v.root}/{SPEC}/t.h'), b'TRUNK t\n', "the backend's file")
        mapped.close()
        os.close(reader)


def a_copy_in_scratch_keeps_its_number():
    with view(opts=['--scratch-all']) as v:
        path = v.path('doc/t.txt')
        with open(path, 'a') as f:
            before = os.fstat(f.fileno())
            f.write('more\n')
            f.flush()
            equal(os.fstat(f.fileno()).st_ino, before.st_ino, 'inode number of the open file')
        equal(os.stat(path).st_ino, before.st_ino, 'inode number')
        equal({e.name: e.inode()
               for e in os.scandir(v.path('doc'))}['t.txt'], before.st_ino, 'and when listed')
        v.remount()
        equal(os.stat(path).st_ino, before.st_ino, 'inode number after a remount')


def opening_for_writing_copies_nothing():
    with view() as v:
        os.close(os.open(v.path('include/t.h'), os.O_RDWR | os.O_APPEND))
        true(not os.path.exists(f'{v.root}/{SPEC}/t.h'), 'nothing was copied up')


def a_descriptor_outlives_lost_permissions():
    with view() as v:
        os.mkdir(v.path('build'))
        for place in PLACES:
            for mode in (0o444, 0o000, 0o200):
                path = v.path(f'{place}/m{mode:o}')
                fd = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, mode)
                os.pwrite(fd, b'one', 0)
                os.fchmod(fd, 0)
                time.sleep(1.2)  # longer than a descriptor for writing is kept without a reason
                os.pwrite(fd, b'two', 3)
                equal(os.pread(fd, 10, 0), b'onetwo', f'{path}: data')
                equal(os.fstat(fd).st_mode & 0o777, 0, f'{path}: mode')
                os.close(fd)


def appends_of_both_sides_are_kept():
    with view() as v:
        a = os.open(v.path('doc/t.txt'), os.O_WRONLY | os.O_APPEND)
        b = os.open(v.root + '/doc/t.txt', os.O_WRONLY | os.O_APPEND)
        for i in range(100):
            os.write(a, b'mount %02d\n' % i)
            os.write(b, b'layer %02d\n' % i)
        lines = read_file(v.root + '/doc/t.txt').split(b'\n')
        equal(len(lines), 202, 'lines')
        equal(lines[1:-1], [w % i for i in range(100) for w in (b'mount %02d', b'layer %02d')],
              'in order')
        shows(lambda: v.read('doc/t.txt'), read_file(v.root + '/doc/t.txt'), 'the mount')
        os.close(a)
        os.close(b)


def truncating_at_open_truncates():
    with view() as v:
        for path in ('doc/t.txt', 'include/t.h', 'include/both.h'):
            with open(v.path(path), 'w') as f:
                equal(os.fstat(f.fileno()).st_size, 0, f'{path}: size')
                f.write('x')
            equal(v.read(path), b'x', path)


def writes_through_shared_maps_arrive():
    with view() as v:
        for path, layer in (('doc/t.txt', 'doc/t.txt'), ('include/t.h', SPEC + '/t.h')):
            fd = os.open(v.path(path), os.O_RDWR)
            m = mmap.mmap(fd, os.fstat(fd).st_size)
            m[0:5] = b'MAPPD'
            equal(os.pread(fd, 5, 0), b'MAPPD', f'{path}: read beside the map')
            m.flush()
            equal(read_file(f'{v.root}/{layer}')[:5], b'MAPPD', f'{path}: the layer')
            m[0:5] = b'LATER'
            os.close(fd)
            m.close()
            equal(v.read(path)[:5], b'LATER', f'{path}: after the map is gone')


def hard_links_are_one_file():
    with view() as v:
        os.mkdir(v.path('build'))
        for place in PLACES:
            a = fresh(v, place, 'a')
            b = v.path(f'{place}/b')
            os.link(a, b)
            equal((os.stat(a).st_nlink, os.stat(b).st_nlink), (2, 2), f'{place}: links')
            true(os.path.samefile(a, b), f'{place}: one file')
            with open(a, 'a') as f:
                f.write('more\n')
            equal(read_file(b), b'old text\nmore\n', f'{place}: the other name')
            os.unlink(a)
            equal(os.stat(b).st_nlink, 1, f'{place}: links after unlinking one')


def a_file_seen_at_two_places_is_one():
    """A backend's file is seen at its mapped place and where it lies."""
    with view() as v:
        with open(v.path('include/s.h')) as r, open(v.path(f'{SPEC}/s.h'), 'a') as w:
            equal(r.read(), 'spec s\n', 'before')
            w.write('more\n')
            w.flush()
            shows(r.read, 'more\n', 'the other place')


def locks_hold_among_users_of_the_mount():
    with view() as v:
        with open(v.path('doc/t.txt'), 'r+') as a, open(v.path('doc/t.txt'), 'r+') as b:
            fcntl.flock(a, fcntl.LOCK_EX)
            fails(11, fcntl.flock, b, fcntl.LOCK_EX | fcntl.LOCK_NB)
            fcntl.flock(a, fcntl.LOCK_UN)
            fcntl.flock(b, fcntl.LOCK_EX | fcntl.LOCK_NB)


def a_written_program_runs():
    with view() as v:
        os.mkdir(v.path('build'))
        for i in range(50):
            path = v.path(f'build/run{i}')
            with open(path, 'w') as f:
                f.write('#!/bin/sh\nexit 7\n')
            os.chmod(path, 0o755)
            equal(os.spawnv(os.P_WAIT, path, [path]), 7, f'exit status of run {i}')


def data_calls_do_what_they_say():
    with view() as v:
        os.mkdir(v.path('build'))
        fd = os.open(v.path('build/sparse'), os.O_CREAT | os.O_RDWR)
        os.pwrite(fd, b'x', 1 << 20)
        equal(os.lseek(fd, 0, os.SEEK_DATA), 1 << 20, 'first data')
        equal(os.lseek(fd, 0, os.SEEK_HOLE), 0, 'first hole')
        os.posix_fallocate(fd, 0, 3 << 20)
        equal(os.fstat(fd).st_size, 3 << 20, 'size after fallocate')
        out = os.open(v.path('build/copy'), os.O_CREAT | os.O_RDWR)
        equal(os.copy_file_range(fd, out, 100, 1 << 20, 5), 100, 'bytes copied')
        equal(os.pread(out, 2, 5), b'x\0', 'what was copied')
        os.fsync(fd)
        os.fdatasync(out)
        os.close(fd)
        os.close(out)


def what_the_view_makes_is_copied():
    with view() as v:
        os.mkdir(v.path('build'))
        for name in ('python/triton/FLAGTREE_BACKEND', '.specfs/version'):
            text = read_file(v.path(name))
            source = os.open(v.path(name), os.O_RDONLY)
            target = os.open(v.path('build/copy'), os.O_CREAT | os.O_TRUNC | os.O_RDWR)
            true(text, f'{name} has a text')
            equal(os.copy_file_range(source, target, len(text)), len(text), f'bytes of {name}')
            equal(os.pread(target, 4096, 0), text, f'the copy of {name}')
            os.close(source)
            os.close(target)


def what_the_view_makes_has_no_holes():
    with view() as v:
        for name in ('python/triton/FLAGTREE_BACKEND', '.specfs/version'):
            fd = os.open(v.path(name), os.O_RDONLY)
            size = os.fstat(fd).st_size
            equal(os.lseek(fd, 0, os.SEEK_DATA), 0, f'first data of {name}')
            equal(os.lseek(fd, 0, os.SEEK_HOLE), size, f'first hole of {name}')
            fails(errno.ENXIO, os.lseek, fd, size, os.SEEK_DATA)
            os.close(fd)


as_asked()
main(an_unlinked_file_lives_on, a_hidden_file_is_not_written_to, a_replaced_file_lives_on,
     a_file_replaced_underneath_lives_on, an_edit_underneath_is_seen_by_open_files,
     a_renamed_file_is_written_to, a_file_below_a_renamed_directory_is_written_to,
     readers_see_what_a_copy_up_wrote, a_copy_in_scratch_keeps_its_number,
     opening_for_writing_copies_nothing, a_descriptor_outlives_lost_permissions,
     appends_of_both_sides_are_kept, truncating_at_open_truncates,
     writes_through_shared_maps_arrive, hard_links_are_one_file, a_file_seen_at_two_places_is_one,
     locks_hold_among_users_of_the_mount, a_written_program_runs, data_calls_do_what_they_say,
     what_the_view_makes_is_copied, what_the_view_makes_has_no_holes)
