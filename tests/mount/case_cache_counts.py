# SPDX-License-Identifier: MIT
"""What work costs, counted in requests to the daemon: it does not grow with what is there already,
and what the kernel knows is not asked for."""
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from children import undisturbed  # noqa: E402
from daemontree import PLACES, SPEC, view  # noqa: E402
from mounted import (View, equal, git, main, need_program, read_file, run,  # noqa: E402
                     true, wait_for)

SELF = 12  # requests for reading .specfs/status


def requests(v):
    counts = json.loads(v.read('.specfs/status'))['requests']
    return {k: n for k, n in counts.items() if k not in ('forget', 'ioctl')}


def cost(v, call):
    """The requests of a call: {kind: number}, without those for asking."""
    before = requests(v)
    call()
    after = requests(v)
    return {k: after[k] - before.get(k, 0) for k in after if after[k] - before.get(k, 0)}


def total(counts):
    return max(0, sum(counts.values()) - SELF)


def a_second_git_status_asks_for_next_to_nothing():

    def many(root):
        for i in range(400):
            os.makedirs(f'{root}/src/d{i % 20}', exist_ok=True)
            with open(f'{root}/src/d{i % 20}/f{i}', 'w', encoding='utf-8') as f:
                f.write(f'{i}\n')
        git(root, 'add', '-A')
        git(root, 'commit', '-qm', 'many')

    with view(dirty=many) as v, undisturbed():
        first = git(v.mnt, 'status', '--porcelain')
        git(v.mnt, 'status', '--porcelain')
        counts = cost(v, lambda: equal(git(v.mnt, 'status', '--porcelain'), first, 'the same'))
        true(total(counts) <= 60, f'a warm git status asks {counts}')


def small_files_cost_the_same_however_many_there_are():
    with view() as v, undisturbed():
        os.mkdir(v.path('build'))
        for place in PLACES:
            os.mkdir(v.path(f'{place}/one'))

            def make(k, top=v.path(f'{place}/one')):
                for i in range(200):
                    with open(f'{top}/f{k}_{i}', 'wb') as f:
                        f.write(b'x' * 1000)

            def drop(k, top=v.path(f'{place}/one')):
                for i in range(200):
                    os.unlink(f'{top}/f{k}_{i}')

            made = [total(cost(v, lambda k=k: make(k))) for k in range(4)]
            true(max(made) <= 200 * 5 + 60, f'{place}: requests for 200 files each: {made}')
            true(max(made) - min(made) <= 60, f'{place}: it does not grow: {made}')
            gone = [total(cost(v, lambda k=k: drop(k))) for k in range(4)]
            true(max(gone) <= 200 * 4, f'{place}: requests for 200 removals: {gone}')


def big_writes_come_in_big_pieces():
    with view() as v, undisturbed():
        os.mkdir(v.path('build'))
        data = b'x' * (8 << 20)
        for place in PLACES:
            counts = cost(v, lambda: v.write(f'{place}/big', data))
            true(counts.get('write', 0) <= 80, f'{place}: writes of 8 MB: {counts}')
            counts = cost(v, lambda: true(v.read(f'{place}/big') == data, 'content'))
            true(counts.get('read', 0) <= 80, f'{place}: reads of 8 MB: {counts}')
            counts = cost(v, lambda: v.read(f'{place}/big'))
            equal(counts.get('read', 0) <= 2, True, f'{place}: reads of what is cached: {counts}')


def a_change_in_place_copies_nothing():
    """Attributes and a byte at the end of a big trunk file: no data passes through."""
    size = 50 << 20

    def big(root):
        with open(f'{root}/doc/big', 'wb') as f:
            f.write(b'b' * size)

    with view(dirty=big) as v:
        def change():
            os.chmod(v.path('doc/big'), 0o600)
            os.utime(v.path('doc/big'))
            with open(v.path('doc/big'), 'ab') as f:
                f.write(b'e')

        before = os.stat(f'{v.root}/doc/big').st_ino
        counts = cost(v, change)
        true(counts.get('read', 0) <= 3 and counts.get('write', 0) <= 3, f'it asks {counts}')
        st = os.stat(f'{v.root}/doc/big')
        equal((st.st_ino, st.st_size), (before, size + 1), 'the same file')


def a_view_costs_nothing_until_it_is_used():
    """Ten views of one tree at once, each ready without a walk through it."""

    def many(root):
        for i in range(2000):
            os.makedirs(f'{root}/src/d{i % 100}', exist_ok=True)
            with open(f'{root}/src/d{i % 100}/f{i}', 'w', encoding='utf-8') as f:
                f.write('')

    with view(dirty=many) as first:
        views = []
        try:
            for _ in range(9):
                v = View(root=first.root, backend='b', opts=['-p', 'flagtree'])
                v.__enter__()
                views.append(v)
            for v in views:
                status = json.loads(v.read('.specfs/status'))
                true(sum(status['requests'].values()) < 60, f'requests: {status["requests"]}')
                true(status['cache']['nodes'] < 30, f'nodes: {status["cache"]["nodes"]}')
                equal(v.read('include/both.h'), b'spec both\n', 'it works')
        finally:
            for v in views:
                v.__exit__(None, None, None)


def text_of(path):
    return read_file(path).decode()


def watchers_in_the_mount_hear_of_what_is_done_there():
    """inotifywait and tail -F over the first write of a file, which copies it up."""
    need_program('inotifywait', 'tail')
    with view() as v:
        for name, real in (('include/t.h', f'{SPEC}/t.h'), ('doc/t.txt', 'doc/t.txt')):
            log = os.path.join(v.tmp, 'events')
            with open(log, 'w', encoding='utf-8') as f:
                watch = subprocess.Popen(['inotifywait', '-m', '-e', 'modify', v.path(name)],
                                         stdout=f, stderr=subprocess.PIPE, text=True)
            before, shown = text_of(v.path(name)), os.path.join(v.tmp, 'tail')
            with open(shown, 'w', encoding='utf-8') as f:
                tail = subprocess.Popen(['tail', '-n', '+1', '-F', v.path(name)], stdout=f)
            try:
                while 'established' not in watch.stderr.readline():
                    pass
                wait_for(lambda: text_of(shown) == before, f'{name}: tail has read all of it')
                for i, text in enumerate(('x\n', 'y\n')):
                    with open(v.path(name), 'a', encoding='utf-8') as f:
                        f.write(text)
                    # two of a kind that nobody has read yet are one
                    wait_for(lambda i=i: text_of(log).count('MODIFY') > i, f'{name}: event {i}')
                wait_for(lambda: text_of(shown) == before + 'x\ny\n',
                         f'{name}: tail -F shows both lines')
                # an append underneath: whoever looks sees it, tail -F looks
                with open(f'{v.root}/{real}', 'a', encoding='utf-8') as f:
                    f.write('z\n')
                wait_for(lambda: v.read(name).endswith(b'x\ny\nz\n'), f'{name}: underneath')
            finally:
                for p in (watch, tail):
                    p.kill()
                    p.wait()
                watch.stderr.close()


def a_first_walk_asks_twice_a_directory():
    """Once for what is in it and once more for its end, and then for nothing that was told."""
    dirs, tries = 40, 3
    tree = {f'lib/d{i}/f{k}': 'x' for i in range(dirs) for k in range(5)}
    for left in reversed(range(tries)):
        with view(more=tree) as v:

            def walk(top=v.path('lib')):
                for base, names, files in os.walk(top):
                    for name in names + files:
                        os.lstat(os.path.join(base, name))

            with undisturbed():
                counts = cost(v, walk)
            # memory may have been short
            if total(counts) <= 2 * (dirs + 1) + 10 or not left:
                true(total(counts) <= 2 * (dirs + 1) + 10, f'a first walk asks {counts}')
                return


def a_tree_that_was_read_is_copied_without_asking():
    need_program('tar')
    with view(opts=['--scratch-all']) as v:
        for i in range(300):
            v.write(f'src/d{i % 10}/f{i}', 'x' * 500)
        with undisturbed():
            run(['tar', 'cf', os.path.join(v.tmp, 'a.tar'), '-C', v.mnt, 'src'])
            counts = cost(v, lambda: run(['tar', 'cf', os.path.join(v.tmp, 'b.tar'), '-C', v.mnt,
                                          'src']))
        true(total(counts) <= 60, f'a warm tar asks {counts}')
        equal(os.path.getsize(os.path.join(v.tmp, 'a.tar')),
              os.path.getsize(os.path.join(v.tmp, 'b.tar')), 'the same size')
        shutil.rmtree(v.path('src'))


main(a_second_git_status_asks_for_next_to_nothing,
     small_files_cost_the_same_however_many_there_are, big_writes_come_in_big_pieces,
     a_change_in_place_copies_nothing, a_view_costs_nothing_until_it_is_used,
     watchers_in_the_mount_hear_of_what_is_done_there, a_first_walk_asks_twice_a_directory,
     a_tree_that_was_read_is_copied_without_asking)
