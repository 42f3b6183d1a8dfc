# SPDX-License-Identifier: MIT
"""What can't be watched is not cached: layers on other machines' file systems, and directories
beyond the system's limit.  It is told once and counted, and nothing in it is ever stale.
"""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

import userns  # noqa: E402
from mounted import (Skip, View, equal, main, read_file, run, true, wait_for,
                     write_file)  # noqa: E402

DIRS = 30
MARKS = 12
TREE = {f'd{i}/f.txt': f'text {i}\n' for i in range(DIRS)}


def look_at_all(top):
    for at, _dirs, files in os.walk(top):
        for f in files:
            read_file(os.path.join(at, f))


def watch_of(v):
    return v.status()['cache']['watch']


def lines(v, text):
    return sum(text in line for line in v.log().splitlines())


def nothing_is_stale(v, root):
    """Every kind of change, in every directory, watched or not: seen at the next look."""
    for i in range(DIRS):
        d, below = f'd{i}', os.path.join(root, f'd{i}')
        true(not v.exists(f'{d}/new'), 'not there yet')
        write_file(f'{below}/new', b'new')
        write_file(f'{below}/f.txt', b'TEXT %d\n' % i)  # of the same length
        v.cli('sync', v.mnt)
        equal(v.listdir(d), ['f.txt', 'new'], f'names in {d}')
        equal((v.read(f'{d}/f.txt'), v.read(f'{d}/new')), (b'TEXT %d\n' % i, b'new'), d)
        os.rename(f'{below}/new', f'{below}/f.txt')
        os.chmod(f'{below}/f.txt', 0o600)
        v.cli('sync', v.mnt)
        equal(v.listdir(d), ['f.txt'], f'names in {d}')
        st = os.stat(v.path(f'{d}/f.txt'))
        equal((st.st_size, st.st_mode & 0o777), (3, 0o600), f'{d}/f.txt')


def open_files_are_looked_at(v, root):
    """Nobody asks, nobody tells: who holds a file open sees a change all the same."""
    files = {i: open(v.path(f'd{i}/f.txt'), 'rb') for i in range(DIRS)}
    for f in files.values():
        f.read()
    for i in files:
        with open(os.path.join(root, f'd{i}/f.txt'), 'r+b') as f:
            f.write(b'%03d' % i)
    for i, f in files.items():
        wait_for(lambda: os.pread(f.fileno(), 3, 0) == b'%03d' % i, f'd{i}/f.txt, held open')
        f.close()


def beyond_the_limit():
    userns.set_limit('max_fanotify_marks', MARKS)
    with View(TREE) as v:
        look_at_all(v.mnt)
        look_at_all(v.mnt)
        w = watch_of(v)
        equal(w['mechanism'], 'fanotify', 'how it is watched')
        true(0 < w['directories'] <= MARKS, f'watched: {w}')
        true(w['refused'] >= DIRS - MARKS, f'refused: {w}')
        equal(w['remote'], 0, 'remote')
        nothing_is_stale(v, v.root)
        open_files_are_looked_at(v, v.root)
        equal(lines(v, 'max_user_marks'), 1, 'lines in the log')


def without_fanotify():
    userns.set_limit('max_fanotify_groups', 0)
    try:
        with View(TREE) as v:
            look_at_all(v.mnt)
            look_at_all(v.mnt)
            w = watch_of(v)
            equal((w['mechanism'], w['refused']), ('inotify', 0), 'how it is watched')
            true(w['directories'] >= DIRS, f'watched: {w}')
            nothing_is_stale(v, v.root)
            open_files_are_looked_at(v, v.root)
    finally:
        userns.set_limit('max_fanotify_groups', 100)


def a_layer_that_others_may_change():
    """A view stands in for the network's file system: the kernel sees no change of it, either."""
    with View(TREE) as far, View({'README': 'x\n'}, mount=False) as v:
        subprocess.run(['mkdir', far.path('d0/sub')], check=True)
        v.opts = ['-l', far.mnt]
        v.mount()
        look_at_all(v.mnt)
        look_at_all(v.mnt)
        w = watch_of(v)
        true(w['remote'] >= DIRS and w['refused'] == w['remote'], f'refused: {w}')
        os.rmdir(far.path('d0/sub'))
        nothing_is_stale(v, far.mnt)
        open_files_are_looked_at(v, far.mnt)
        equal(lines(v, 'that others may change'), 1, 'lines in the log')
        equal(v.read('README'), b'x\n', 'the checkout itself')


WHY_NOT = userns.enter()
if WHY_NOT:
    def needs_a_namespace():
        raise Skip(WHY_NOT)
    main(needs_a_namespace)
# the limit is for all that comes after it
main(without_fanotify, a_layer_that_others_may_change, beyond_the_limit)
