# SPDX-License-Identifier: MIT
"""Directories' own attributes: a first walk asks for none, and they are right all the same."""
import json
import os
import threading

from children import undisturbed
from mounted import View, binary, main, run, true, wait_for

DIRS, ROUNDS, LONG = 60, 9, 180


def requests(v, kind):
    return json.loads(v.read('.specfs/status'))['requests'].get(kind, 0)


def walk(top):
    """Look at everything below; returns the times of the directories."""
    times = {}
    for where, dirs, files in os.walk(top):
        for name in dirs + files:
            st = os.lstat(os.path.join(where, name))
            if name in dirs:
                times[os.path.relpath(os.path.join(where, name), top)] = st.st_mtime_ns
    return times


def a_first_walk_asks_for_no_attributes():
    tree = {f'src/d{i % 6}/e{i}/f': 'text\n' for i in range(DIRS)}
    with View(tree) as v:
        with undisturbed():
            before = requests(v, 'getattr')
            walk(v.path('src'))
            asked = requests(v, 'getattr') - before
        true(asked < 20, f'a walk through {DIRS} directories asked for attributes {asked} times')


def a_listed_directory_is_followed():
    """Nobody has been in it; only its name and its attributes were told with the listing."""
    with View({'src/sub/f': 'text\n', 'src/other/f': 'text\n'}) as v:
        true('sub' in os.listdir(v.path('src')), 'it is listed')
        old = os.stat(v.path('src/sub'))
        os.mkdir(os.path.join(v.root, 'src/sub/new'))

        def shows():
            st = os.stat(v.path('src/sub'))
            return st.st_nlink == old.st_nlink + 1 and st.st_mtime_ns > old.st_mtime_ns
        wait_for(shows, 'a new link count and time')
        os.chmod(os.path.join(v.root, 'src/sub'), 0o700)
        wait_for(lambda: os.stat(v.path('src/sub')).st_mode & 0o777 == 0o700, 'a new mode')


def changed_while_first_seen():
    """The first that are looked at for a long listing change before it has arrived."""
    with View({f'src/r{i}/d{k:03}/f': 'text\n' for i in range(ROUNDS) for k in range(LONG)}) as v:
        for i in range(ROUNDS):

            def change(below=os.path.join(v.root, f'src/r{i}')):
                for k in reversed(range(LONG)):
                    os.mkdir(f'{below}/d{k:03}/new')

            changer = threading.Thread(target=change)
            changer.start()
            os.listdir(v.path(f'src/r{i}'))
            changer.join()
        run([binary(), 'sync', v.mnt])
        seen, there = walk(v.path('src')), walk(os.path.join(v.root, 'src'))
        wrong = [name for name in there if seen.get(name) != there[name]]
        true(not wrong, f'times of {wrong[:5]}, {len(wrong)} of {len(there)}')


main(a_first_walk_asks_for_no_attributes, a_listed_directory_is_followed, changed_while_first_seen)
