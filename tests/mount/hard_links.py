# SPDX-License-Identifier: MIT
"""A hard link's names are one object with the right count, whatever kind of file it is."""
import errno
import itertools
import mmap
import os
import socket
import tarfile
import time

from daemontree import SPEC, view
from mounted import View, equal, fails, main, read_file, run, true, wait_for

TREE = {'docs/a.txt': 'a\n', '.gitignore': '/build/\n', 'third_party/b/spec/triton/x.py': ''}


def make_each(at):
    with open(os.path.join(at, 'file'), 'w') as f:
        f.write('x')
    os.symlink('file', os.path.join(at, 'symlink'))
    os.mkfifo(os.path.join(at, 'fifo'))
    with socket.socket(socket.AF_UNIX) as s:
        cwd = os.getcwd()
        os.chdir(at)
        try:
            s.bind('socket')
        finally:
            os.chdir(cwd)
    return ['file', 'symlink', 'fifo', 'socket']


def check_counts(at, name):
    one, two = os.path.join(at, name), os.path.join(at, name + '.2')
    os.lstat(one)
    os.link(one, two, follow_symlinks=False)
    a, b = os.lstat(one), os.lstat(two)
    equal((a.st_nlink, b.st_nlink), (2, 2), f'{name}: two names')
    equal(a.st_ino, b.st_ino, f'{name}: one number')
    os.chown(two, os.getuid(), os.getgid(), follow_symlinks=False)
    equal(os.lstat(one).st_ctime_ns, os.lstat(two).st_ctime_ns, f'{name}: one object')
    os.rename(one, one + '.3')
    os.unlink(two)
    equal(os.lstat(one + '.3').st_nlink, 1, f'{name}: one name')
    true(not os.path.lexists(two), f'{name}: the other is gone')


def every_kind_in_scratch_and_in_trunk():
    with View(TREE, 'b') as v:
        os.mkdir(v.path('build'))
        for rel in ('build', 'docs'):
            for name in make_each(v.path(rel)):
                check_counts(v.path(rel), name)


def links_made_underneath_are_one_object():
    with View(TREE, 'b', mount=False) as v:
        at = os.path.join(v.root, 'docs')
        names = make_each(at)
        for name in names:
            os.link(os.path.join(at, name), os.path.join(at, name + '.2'), follow_symlinks=False)
        v.mount()
        for name in names:
            a, b = os.lstat(v.path(f'docs/{name}')), os.lstat(v.path(f'docs/{name}.2'))
            equal((a.st_ino, a.st_nlink), (b.st_ino, 2), name)
            os.unlink(v.path(f'docs/{name}.2'))
            equal(os.lstat(v.path(f'docs/{name}')).st_nlink, 1, name)


PLACES = ('build', 'doc', 'include', SPEC, 'third_party/b/backend', 'python/triton/backends/b')


def names_may_lie_anywhere():
    """A source and a build product, a specialization and a trunk file: one file all the same."""
    more = {'third_party/b/backend/x.py': '', 'doc/deep/x': ''}
    with view(more=more) as v:
        os.mkdir(v.path('build'))
        for number, (a, b) in enumerate(itertools.product(PLACES, PLACES)):
            what = f'{a} and {b}'
            one, two = v.path(f'{a}/one{number}'), v.path(f'{b}/two{number}')
            with open(one, 'w') as f:
                f.write(what)
            os.lstat(one)
            run(['ln', one, two])
            equal([os.stat(p).st_nlink for p in (one, two)], [2, 2], f'{what}: counts')
            true(os.path.samefile(one, two), f'{what}: one file')
            with open(two, 'a') as f:
                f.write(' more')
            equal(read_file(one), f'{what} more'.encode(), f'{what}: written by the other name')
            with open(one, 'r+b') as f, mmap.mmap(f.fileno(), 0) as m:
                m[:1] = b'X'
                equal(read_file(two)[:1], b'X', f'{what}: a shared map')
        v.remount()
        for number, (a, b) in enumerate(itertools.product(PLACES, PLACES)):
            what = f'{a} and {b}'
            one, two = v.path(f'{a}/one{number}'), v.path(f'{b}/two{number}')
            true(os.path.samefile(one, two), f'{what}: one file after a remount')
            with tarfile.open(v.tmp + '/both.tar', 'w') as t:
                t.add(one)
                t.add(two)
                equal([m.islnk() for m in t.getmembers()], [False, True], f'{what}: an archive')
            os.unlink(two)
            true(not os.path.lexists(two), f'{what}: the name is gone')
            equal(read_file(one)[1:], f'{what} more'[1:].encode(), f'{what}: the other')
            if 'triton' not in b:
                equal(os.stat(one).st_nlink, 1, f'{what}: one name is left')


def each_name_lies_where_it_belongs():
    with view() as v:
        os.mkdir(v.path('build'))
        os.link(v.path('doc/t.txt'), v.path('build/t.txt'))
        os.link(v.path('include/t.h'), v.path('build/t.h'))
        os.link(v.path('build/t.h'), v.path('doc/t.h'))
        true(not os.path.exists(f'{v.root}/build'), 'no build directory in the checkout')
        equal(v.git('status', '--porcelain').split('\n')[:1], ['?? doc/t.h'], 'new in the checkout')
        with open(v.path('build/t.h'), 'w') as f:
            f.write('new text')
        equal(read_file(f'{v.root}/include/t.h'), b'trunk t\n', 'the trunk file that spec hides')
        equal(read_file(f'{v.root}/{SPEC}/t.h'), b'new text', 'the specialization')
        equal(read_file(f'{v.root}/doc/t.h'), b'new text', 'the name in the trunk')
        # and an edit of one name underneath shows by the other, once both are known
        with open(f'{v.root}/doc/t.txt', 'w') as f:
            f.write('edited')
        wait_for(lambda: v.read('build/t.txt') == b'edited', 'an edit underneath')


def a_link_opens_no_way_to_what_is_denied():
    with view() as v:
        os.mkdir(v.path('build'))
        fails(errno.EROFS, os.link, v.path('.git/HEAD'), v.path('build/HEAD'))
    with view(opts=['--scratch-all']) as v:
        before = read_file(f'{v.root}/doc/t.txt')
        os.mkdir(v.path('build'))
        os.link(v.path('doc/t.txt'), v.path('build/alias'))
        with open(v.path('build/alias'), 'a') as f:
            f.write('x')
        equal(v.read('doc/t.txt'), before + b'x', 'both names')
        equal(read_file(f'{v.root}/doc/t.txt'), before, 'the trunk file')
        equal(os.stat(f'{v.root}/doc/t.txt').st_nlink, 1, 'its links')


def a_directory_that_is_copied_takes_its_names_along():
    """Also those that nobody has looked up: what stays behind counts one less."""
    with view() as v:
        os.makedirs(v.path('build/d/sub'))
        os.link(v.path('doc/t.txt'), v.path('build/d/sub/t.txt'))
        v.remount()
        equal(os.stat(v.path('doc/t.txt')).st_nlink, 2, 'before')
        os.rename(v.path('build/d'), v.path('include/d'))
        true(os.path.isdir(f'{v.root}/{SPEC}/d'), 'it was copied')
        wait_for(lambda: os.stat(v.path('doc/t.txt')).st_nlink == 1, 'the name that is left')
        equal(v.read('include/d/sub/t.txt'), b'trunk text\n', 'the copy')


def what_is_changed_by_one_name_shows_by_another():
    """Also where changes by the other would be copied elsewhere: two nodes of one file."""
    for first in ('doc', 'include'):
        with view(mount=False) as v:
            for i in range(5):  # the kernel keeps nothing until all is watched
                with open(f'{v.root}/doc/h{i}', 'w') as f:
                    f.write('text')
                os.link(f'{v.root}/doc/h{i}', f'{v.root}/include/h{i}')
                os.link(f'{v.root}/doc/h{i}', f'{v.root}/doc/k{i}')
            v.mount()
            for i in range(5):
                doc, include = v.path(f'doc/h{i}'), v.path(f'include/h{i}')
                for name in (doc, include) if first == 'doc' else (include, doc):
                    equal((os.stat(name).st_nlink, read_file(name)), (3, b'text'), name)
                time.sleep(0.1)
                with open(doc, 'a') as f:
                    f.write(' more')
                os.chmod(doc, 0o600)
                equal(read_file(v.path(f'doc/k{i}')), b'text more', f'{i}: a name of the same kind')
                wait_for(lambda: read_file(include) == b'text more', f'{i}: what was written')
                equal(os.stat(include).st_mode & 0o777, 0o600, f'{i}: what was set')
                os.unlink(doc)
                equal([os.stat(n).st_nlink for n in (include, v.path(f'doc/k{i}'))], [2, 2],
                      f'{i}: what is left')


def a_name_that_the_new_place_would_hide_stays():
    with view() as v:
        os.makedirs(v.path('build/d/__pycache__'))
        os.link(v.path('doc/t.txt'), v.path('build/d/__pycache__/t.txt'))
        os.stat(v.path('build/d/__pycache__/t.txt'))
        os.rename(v.path('build/d'), v.path('include/d'))
        equal(v.listdir('include/d'), ['__pycache__'], 'what is listed')
        both = [os.stat(v.path(f'{d}/t.txt')) for d in ('doc', 'include/d/__pycache__')]
        equal({(st.st_ino, st.st_nlink) for st in both}, {(both[0].st_ino, 2)}, 'both names')


main(every_kind_in_scratch_and_in_trunk, links_made_underneath_are_one_object,
     names_may_lie_anywhere, each_name_lies_where_it_belongs,
     a_link_opens_no_way_to_what_is_denied, a_directory_that_is_copied_takes_its_names_along,
     a_name_that_the_new_place_would_hide_stays,
     what_is_changed_by_one_name_shows_by_another)
