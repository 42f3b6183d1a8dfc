# SPDX-License-Identifier: MIT
"""Listings: no name lost, none twice, whatever happens meanwhile; numbers as stat has them."""
import os
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from daemontree import PLACES, SPEC, view  # noqa: E402
from mounted import equal, fails, main, true, wait_for, write_file  # noqa: E402
from pieces import Reader  # noqa: E402

MANY = 3000


def many(v, count=MANY):
    for i in range(count):
        write_file(f'{v.root}/{"include" if i % 2 else SPEC}/f{i}', 'x')


def names(entries):
    return sorted(n for n, _, _ in entries if n not in ('.', '..'))


def merged_names_come_once():
    with view() as v:
        equal(v.listdir('include'), ['both.h', 's.h', 't.h'], 'include')
        r = Reader(v.path('include'))
        equal(names(r.rest()), ['both.h', 's.h', 't.h'], 'by getdents')
        r.close()


def deleting_while_reading_loses_nothing():
    with view() as v:
        many(v)
        want = set(v.listdir('include'))
        r = Reader(v.path('include'))
        seen, gone = [], set()
        while True:
            batch = r.batch()
            if not batch:
                break
            seen += [n for n, _, _ in batch]
            for n, _, _ in batch[::2]:
                if n not in ('.', '..') and n not in gone:
                    os.unlink(v.path(f'include/{n}'))
                    gone.add(n)
        r.close()
        equal(len(seen), len(set(seen)), 'names that came, and different ones')
        equal(sorted(want - set(seen)), [], 'names that did not come')
        equal(set(v.listdir('include')), want - gone, 'what is left')


def removing_a_full_tree_leaves_nothing():
    with view() as v:
        os.mkdir(v.path('build'))
        for place in ('build/x', 'doc/x', 'include/x'):
            os.makedirs(v.path(f'{place}/deep/er'))
            for i in range(400):
                v.write(f'{place}/deep/f{i}', 'x')
            subprocess.run(['rm', '-r', v.path(place)], check=True)
            true(not v.exists(place), f'{place} is gone')


def offsets_lead_back_to_their_place():
    with view() as v:
        many(v, 300)
        r = Reader(v.path('include'))
        first = r.batch()
        rest = r.rest()
        for name, _, offset in first[::5]:
            os.lseek(r.fd, offset, os.SEEK_SET)
            index = [n for n, _, _ in first + rest].index(name)
            equal([n for n, _, _ in r.rest()], [n for n, _, _ in first + rest][index + 1:],
                  f'after {name}')
        r.close()


def a_new_name_shows_after_rewinding():
    with view() as v:
        for where in ('doc', 'include'):
            r = Reader(v.path(where))
            r.rest()
            v.write(f'{where}/made-in-the-mount', 'x')
            write_file(f'{v.root}/{where}/made-underneath', 'x')

            def shown():
                os.lseek(r.fd, 0, os.SEEK_SET)
                return {'made-in-the-mount', 'made-underneath'} <= set(names(r.rest()))

            wait_for(shown, f'{where}: both names')
            r.close()


def numbers_agree_with_stat():
    with view() as v:
        os.makedirs(v.path('build/d'))
        os.symlink('nowhere', v.path('build/l'))
        for place in PLACES + ('', 'third_party/b'):
            r = Reader(v.path(place))
            for name, ino, _ in r.rest():
                if name == '..' and not place:
                    continue  # leads out of the mount
                equal(ino, os.lstat(os.path.join(v.path(place), name)).st_ino, f'{place}/{name}')
            r.close()
        dirs = {}
        for base, _, _ in os.walk(v.mnt):
            st = os.stat(base)
            true((st.st_dev, st.st_ino) not in dirs,
                 f'{base} and {dirs.get((st.st_dev, st.st_ino))} differ')
            dirs[st.st_dev, st.st_ino] = base


def a_removed_directory_is_empty():
    with view() as v:
        os.makedirs(v.path('build/d'))
        fd = os.open(v.path('build/d'), os.O_RDONLY | os.O_DIRECTORY)
        os.rmdir(v.path('build/d'))
        equal(os.listdir(fd), [], 'listing')
        equal(os.fstat(fd).st_nlink, 0, 'links')
        fails(2, os.open, 'f', os.O_CREAT | os.O_WRONLY, dir_fd=fd)
        os.mkdir(v.path('build/d'))
        v.write('build/d/f', 'x')
        equal(os.listdir(fd), [], 'listing of the old one')
        os.close(fd)


def readers_and_writers_at_once():
    with view() as v:
        os.mkdir(v.path('build'))
        stay = {f'stay{i}' for i in range(200)}
        for n in stay:
            v.write(f'build/{n}', 'x')
        stop, faults = threading.Event(), []

        def churn(k):
            while not stop.is_set():
                for i in range(20):
                    v.write(f'build/t{k}_{i}', 'x')
                for i in range(20):
                    os.unlink(v.path(f'build/t{k}_{i}'))

        def read():
            for _ in range(60):
                got = os.listdir(v.path('build'))
                if len(got) != len(set(got)) or stay - set(got):
                    faults.append((len(got), len(set(got)), len(stay - set(got))))

        writers = [threading.Thread(target=churn, args=(k, )) for k in range(2)]
        readers = [threading.Thread(target=read) for _ in range(2)]
        for t in writers + readers:
            t.start()
        for t in readers:
            t.join()
        stop.set()
        for t in writers:
            t.join()
        equal(faults, [], 'listings with doubles or losses')


main(merged_names_come_once, deleting_while_reading_loses_nothing,
     removing_a_full_tree_leaves_nothing, offsets_lead_back_to_their_place,
     a_new_name_shows_after_rewinding, numbers_agree_with_stat, a_removed_directory_is_empty,
     readers_and_writers_at_once)
