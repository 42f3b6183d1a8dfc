# SPDX-License-Identifier: MIT
"""Edits in the layers show: new, changed, removed, replaced, of another type.

In mode strict at the next look; in mode auto a watcher tells the kernel, which takes a moment.
"""
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

import daemontree  # noqa: E402
from daemontree import SPEC  # noqa: E402
from mounted import equal, git, main, true, wait_for, write_file  # noqa: E402

MODE = 'strict'


def view(**kw):
    return daemontree.view(opts=['-o', f'cache={MODE}'], **kw)


def shows(look, want, what):
    if MODE == 'strict':
        equal(look(), want, what)
    else:
        daemontree.shows(look, want, what)


def gone(path, what):
    if MODE == 'strict':
        true(not os.path.lexists(path), f'{what} is gone')
    else:
        daemontree.gone(path, what)


def shadows_come_and_go():
    with view() as v:
        shows(lambda: v.read('include/both.h'), b'spec both\n', 'before')
        os.unlink(f'{v.root}/{SPEC}/both.h')
        shows(lambda: v.read('include/both.h'), b'trunk both\n', 'the shadow has gone')
        write_file(f'{v.root}/{SPEC}/t.h', 'new shadow\n')
        shows(lambda: v.read('include/t.h'), b'new shadow\n', 'a new shadow')
        os.rename(f'{v.root}/{SPEC}/s.h', f'{v.root}/{SPEC}/s2.h')
        shows(lambda: v.listdir('include'), ['both.h', 's2.h', 't.h'], 'a renamed one')
        shows(lambda: v.read('include/s2.h'), b'spec s\n', 'its content')
        gone(v.path('include/s.h'), 'include/s.h')


def names_that_were_missing_appear():
    with view() as v:
        shows(lambda: v.listdir('doc'), ['sub', 't.txt'], 'before')
        gone(v.path('doc/later'), 'doc/later')
        write_file(f'{v.root}/doc/later', 'x\n')
        shows(lambda: v.read('doc/later'), b'x\n', 'by name')
        shows(lambda: v.listdir('doc'), ['later', 'sub', 't.txt'], 'listed')
        os.unlink(f'{v.root}/doc/later')
        gone(v.path('doc/later'), 'doc/later')
        shows(lambda: v.listdir('doc'), ['sub', 't.txt'], 'gone')


def a_rewrite_of_the_same_length_shows():
    with view() as v:
        for i in range(30):
            write_file(f'{v.root}/doc/t.txt', f'version {i:04}\n')
            shows(lambda: v.read('doc/t.txt'), f'version {i:04}\n'.encode(), 'content')


def attributes_show():
    with view() as v:
        path = v.root + '/doc/t.txt'
        os.chmod(path, 0o640)
        os.utime(path, ns=(1, 1234567890123456789))
        wait_for(lambda: os.stat(v.path('doc/t.txt')).st_mtime_ns == 1234567890123456789, 'mtime')
        a, b = os.stat(path), os.stat(v.path('doc/t.txt'))
        for field in ('st_mode', 'st_mtime_ns', 'st_ctime_ns', 'st_size', 'st_uid', 'st_gid',
                      'st_ino', 'st_nlink'):
            equal(getattr(b, field), getattr(a, field), field)
        os.truncate(path, 3)
        shows(lambda: os.stat(v.path('doc/t.txt')).st_size, 3, 'size')


def types_change():
    with view() as v:
        shows(lambda: v.read('doc/t.txt'), b'trunk text\n', 'a file')
        os.unlink(v.root + '/doc/t.txt')
        write_file(v.root + '/doc/t.txt/f', 'in a directory\n')
        shows(lambda: v.read('doc/t.txt/f'), b'in a directory\n', 'a directory')
        shutil.rmtree(v.root + '/doc/t.txt')
        os.symlink('sub/u.txt', v.root + '/doc/t.txt')
        shows(lambda: os.readlink(v.path('doc/t.txt')), 'sub/u.txt', 'a symlink')
        shows(lambda: v.read('doc/t.txt'), b'trunk u\n', 'what it leads to')
        os.unlink(v.root + '/doc/t.txt')
        os.symlink('../lib/a.cpp', v.root + '/doc/t.txt')
        shows(lambda: os.readlink(v.path('doc/t.txt')), '../lib/a.cpp', 'another symlink')


def directories_move_away_and_back():
    with view() as v:
        inside = os.open(v.path('doc/sub'), os.O_RDONLY | os.O_DIRECTORY)
        os.rename(v.root + '/doc/sub', v.root + '/elsewhere')
        gone(v.path('doc/sub/u.txt'), 'doc/sub/u.txt')
        shows(lambda: v.read('elsewhere/u.txt'), b'trunk u\n', 'at the new place')
        os.rename(v.root + '/elsewhere', v.root + '/doc/sub')
        shows(lambda: v.read('doc/sub/u.txt'), b'trunk u\n', 'back')
        os.close(inside)
        os.rename(f'{v.root}/{SPEC}', v.root + '/away')
        shows(lambda: v.read('include/both.h'), b'trunk both\n', 'without the backend')
        shows(lambda: v.listdir('include'), ['both.h', 't.h'], 'listed without it')
        os.rename(v.root + '/away', f'{v.root}/{SPEC}')
        shows(lambda: v.read('include/both.h'), b'spec both\n', 'with it again')
        shows(lambda: v.listdir('include'), ['both.h', 's.h', 't.h'], 'listed with it')


def a_directory_stays_in_use():
    """A working directory in the mount survives edits around it."""
    with view() as v:
        fd = os.open(v.path('include'), os.O_RDONLY | os.O_DIRECTORY)
        os.makedirs(f'{v.root}/{SPEC}/new')
        write_file(f'{v.root}/{SPEC}/new/n.h', 'n\n')
        wait_for(lambda: 'new' in os.listdir(fd), 'listed by descriptor')
        with open(os.open('new/n.h', os.O_RDONLY, dir_fd=fd)) as f:
            equal(f.read(), 'n\n', 'opened from there')
        os.close(fd)


def many_files_change_at_once():
    """As git checkout does it: each file a new one."""
    with view() as v:
        for i in range(1000):
            write_file(f'{v.root}/doc/m/f{i % 20}/{i}', 'one')
        for base, _, files in os.walk(v.path('doc/m')):
            for f in files:
                with open(os.path.join(base, f)) as g:
                    equal(g.read(), 'one', f)
        for i in range(1000):
            write_file(f'{v.root}/doc/m/new', f'two{i}')
            os.rename(f'{v.root}/doc/m/new', f'{v.root}/doc/m/f{i % 20}/{i}')
        for i in range(1000):
            shows(lambda: v.read(f'doc/m/f{i % 20}/{i}'), f'two{i}'.encode(), f'file {i}')


def git_sees_a_clean_tree():

    def no_spec(root):
        shutil.rmtree(f'{root}/{SPEC}')
        write_file(f'{root}/{SPEC}/.keep', '')

    with view(prepare=no_spec) as v:
        equal(git(v.mnt, 'diff-files', '--name-only'), '', 'stat data that differs from the index')


def in_mode(mode, test):

    def run():
        global MODE
        MODE = mode
        test()

    run.__name__ = f'{test.__name__} ({mode})'
    return run


main(*[
    in_mode(mode, test) for mode in ('strict', 'auto')
    for test in (shadows_come_and_go, names_that_were_missing_appear,
                 a_rewrite_of_the_same_length_shows, attributes_show, types_change,
                 directories_move_away_and_back, a_directory_stays_in_use,
                 many_files_change_at_once, git_sees_a_clean_tree)
])
