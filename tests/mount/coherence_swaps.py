# SPDX-License-Identifier: MIT
"""Directories that others put in the place of those that the mount renames at the same time."""
import os

from daemontree import SPEC, view
from linux import RENAME_EXCHANGE, renameat2
from mounted import equal, main, true, write_file

ROUNDS, MANY = 4, 1500


def fill(top, tag):
    """A directory with one below it; some names are the tag's own."""
    os.makedirs(f'{top}/deep')
    for base in (top, f'{top}/deep'):
        write_file(f'{base}/{tag}', tag)
        write_file(f'{base}/same', tag * 3)


def look_at_all(top):
    for base, dirs, files in os.walk(top):
        for name in dirs + files:
            os.lstat(os.path.join(base, name))


def keep_busy(v):
    """So much to be told to the kernel that what follows has to wait for its turn."""
    os.rename(f'{v.root}/doc/many', f'{v.root}/doc/away')
    os.rename(f'{v.root}/doc/away', f'{v.root}/doc/many')


def check(v, place, tag):
    """The directory is the one with that tag, and what is made in it is seen."""
    for base in (place, f'{place}/deep'):
        true(os.path.exists(v.path(f'{base}/{tag}')), f'{base}: a name that was not there before')
        equal(v.read(f'{base}/same').decode(), tag * 3, f'{base}: content')
        equal(sorted(set(v.listdir(base)) - {'deep'}), sorted([tag, 'same']), f'{base}: names')
        write_file(f'{v.root}/{base}/later', 'later')
    v.cli('sync', v.mnt)
    for base in (place, f'{place}/deep'):
        true(os.path.exists(v.path(f'{base}/later')), f'{base}: what was made later')
        true('later' in v.listdir(base), f'{base}: listed')


def swapped(v, k):
    """Two directories that the kernel knows all of; others put one in the place of the other."""
    a, b = f'doc/a{k}', f'doc/b{k}'
    fill(f'{v.root}/{a}', 'A')
    fill(f'{v.root}/{b}', 'B')
    v.cli('sync', v.mnt)
    look_at_all(v.path('doc'))
    for base in (a, f'{a}/deep'):
        true(not os.path.exists(v.path(f'{base}/B')), f'{base}: no B yet')
    keep_busy(v)
    os.rename(f'{v.root}/{a}', f'{v.root}/doc/x{k}')
    os.rename(f'{v.root}/{b}', f'{v.root}/{a}')
    return a


def many():
    return {f'doc/many/f{i}': '' for i in range(MANY)}


def another_one_is_renamed_than_was_known():
    with view(more=many()) as v:
        for k in range(ROUNDS):
            a = swapped(v, k)
            os.rename(v.path(a), v.path(f'doc/c{k}'))
            v.cli('sync', v.mnt)
            check(v, f'doc/c{k}', 'B')
            check(v, f'doc/x{k}', 'A')


def another_one_is_exchanged_than_was_known():
    with view(more=dict(many(), **{f'doc/c{k}/f': 'f' for k in range(ROUNDS)})) as v:
        for k in range(ROUNDS):
            a = swapped(v, k)
            renameat2(v.path(a), v.path(f'doc/c{k}'), RENAME_EXCHANGE)
            v.cli('sync', v.mnt)
            check(v, f'doc/c{k}', 'B')
            equal(v.listdir(a), ['f'], f'{a}: names')


def one_that_is_moved_elsewhere_too_is_another_one_here():
    """A spec directory at its own place, while the mount renames in it by the mapped place."""
    with view(more=many()) as v:
        for k in range(ROUNDS):
            a, b = (f'{v.root}/{SPEC}/{name}{k}' for name in 'ab')
            fill(a, 'A')
            fill(b, 'B')
            v.cli('sync', v.mnt)
            look_at_all(v.path(SPEC))
            look_at_all(v.path('include'))
            true(not os.path.exists(v.path(f'{SPEC}/a{k}/B')), 'no B yet')
            keep_busy(v)
            os.rename(v.path(f'include/a{k}'), v.path(f'include/x{k}'))
            os.rename(v.path(f'include/b{k}'), v.path(f'include/a{k}'))
            os.mkdir(v.path(f'{SPEC}/a{k}/new'))
            os.stat(v.path(f'{SPEC}/a{k}'))
            os.rmdir(v.path(f'{SPEC}/a{k}/new'))
            v.cli('sync', v.mnt)
            check(v, f'{SPEC}/a{k}', 'B')
            check(v, f'include/x{k}', 'A')


main(another_one_is_renamed_than_was_known, another_one_is_exchanged_than_was_known,
     one_that_is_moved_elsewhere_too_is_another_one_here)
