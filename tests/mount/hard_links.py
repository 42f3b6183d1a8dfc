# SPDX-License-Identifier: MIT
"""A hard link's names are one object with the right count, whatever kind of file it is."""
import os
import socket

from mounted import View, equal, main, true

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


main(every_kind_in_scratch_and_in_trunk, links_made_underneath_are_one_object)
