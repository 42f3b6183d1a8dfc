# SPDX-License-Identifier: MIT
"""Programs that live by maps: databases, git, compilers and linkers work on every way."""
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from children import start, statuses  # noqa: E402
from daemontree import PLACES, view  # noqa: E402
from mounted import (Skip, equal, git, main, need_program, read_file, run, true,  # noqa: E402
                     wait_for, write_file)

SEC = 0.7
ASK = 'select count(*), count(distinct a) from t'


def connect(path):
    db = sqlite3.connect(path, timeout=30, isolation_level=None)
    db.execute('pragma busy_timeout = 30000')
    return db


def ask(path, question):
    db = connect(path)
    try:
        return db.execute(question).fetchone()[0]
    finally:
        db.close()


def write_rows(path, end):
    db = connect(path)
    n = 0
    while time.monotonic() < end:
        name = f'{os.getpid()} {n}'
        db.execute('begin immediate')
        db.executemany('insert into t values (?, ?)', [(name, 'x' * 300), (name, 'y' * 300)])
        db.execute('commit')
        n += 1
    return 0 if n else 3


def read_rows(path, end):
    """A row is never without its twin, and rows never go back."""
    db, last = connect(path), 0
    while time.monotonic() < end:
        rows, groups = db.execute(ASK).fetchone()
        if rows != 2 * groups or rows < last:
            print(f'{rows} rows, {groups} groups, {last} before', flush=True)
            return 1
        last = rows
    return 0


def sqlite_with_a_killed_writer():
    """WAL shares a map between the processes; DELETE takes POSIX locks and truncates."""
    need_program('sqlite3')
    with view() as v:
        os.mkdir(v.path('build'))
        counts = {}
        for place in PLACES:
            for mode in ('wal', 'delete'):
                path = v.path(f'{place}/{mode}.db')
                run(['sqlite3', path, f'pragma journal_mode = {mode}; create table t (a, b);'])
                end = time.monotonic() + SEC
                readers = [start(read_rows, path, end) for _ in range(2)]
                other = start(write_rows, path, end)
                killed = start(write_rows, path, end + 60)
                wait_for(lambda: ask(path, 'select count(*) from t') > 6, f'{path}: rows')
                os.kill(killed, signal.SIGKILL)
                equal(os.WTERMSIG(os.waitpid(killed, 0)[1]), signal.SIGKILL, 'the killed writer')
                equal(statuses((other, *readers)), [0] * 3,
                      f'{path}: writer and readers')
                equal(ask(path, 'pragma integrity_check'), 'ok', path)
                rows = counts[path] = ask(path, 'select count(*) from t')
                check = 'pragma integrity_check; select count(*) from t;'
                equal(run(['sqlite3', path, check]).stdout, f'ok\n{rows}\n', f'{path}: the tool')
        v.remount()
        for path, count in counts.items():
            equal(ask(path, 'pragma integrity_check'), 'ok', f'{path} after a remount')
            equal(ask(path, 'select count(*) from t'), count, f'{path}: rows after a remount')


def git_clones_commits_and_repacks():
    """In scratch; git maps its packs and its index."""

    def history(root):
        for i in range(3):
            for k in range(40):
                write_file(f'{root}/src/f{k}', f'{i} {k}\n' * 200)
            git(root, 'add', '-A')
            git(root, 'commit', '-q', '--allow-empty', '-m', f'change {i}')

    with view(dirty=history) as v:
        os.mkdir(v.path('build'))
        clone = v.path('build/clone')
        git(v.tmp, 'clone', '-q', f'file://{v.mnt}', clone)
        equal(git(clone, 'log', '--format=%s'), git(v.root, 'log', '--format=%s'), 'history')
        local = v.path('build/local')
        git(v.tmp, 'clone', '-q', clone, local)
        for i in range(3):
            with open(f'{local}/src/f1', 'a') as f:
                f.write('more\n')
            git(local, 'commit', '-qam', f'more {i}')
            git(local, 'gc', '-q', '--prune=now')
        git(local, 'repack', '-adq')
        equal(git(local, 'fsck', '--strict', '--no-progress'), '', 'git fsck')
        equal(git(local, 'status', '--porcelain'), '', 'git status')
        v.remount()
        equal(git(local, 'fsck', '--strict', '--no-progress'), '', 'git fsck after a remount')
        locks = [f for _, _, names in os.walk(v.scratch) for f in names if f.endswith('.lock')]
        equal([f for f in locks if f != 'lock'], [], 'left-over locks')


def linkers():
    """Those that are installed and work here."""
    found = []
    for name in ('bfd', 'gold', 'lld', 'mold'):
        if shutil.which(f'ld.{name}') and subprocess.run(
            ['cc', f'-fuse-ld={name}', '-x', 'c', '-', '-o', '/dev/null'],
                input=b'int main(void) { return 0; }', stderr=subprocess.PIPE).returncode == 0:
            found.append(name)
    return found


def compilers_and_linkers():
    """A big header of the backend's, a big shared object: each linker maps its output."""
    need_program('cc')
    names = linkers()
    if not names:
        raise Skip('no linker that can be chosen')
    header = ''.join(f'static const int number_{i} = {i};\n' for i in range(40000))
    with view() as v:
        os.mkdir(v.path('build'))
        v.write('include/big.h', header)
        v.write('build/lib.c', '#include "big.h"\n'
                'char block[20 << 20] = {1};\nint last(void) { return number_39999; }\n')
        v.write('build/main.c', 'extern char block[];\nint last(void);\n'
                'int main(void) { return block[0] == 1 && last() == 39999 ? 0 : 1; }\n')
        run(['cc', '-g', '-fPIC', '-I', v.path('include'), '-c', v.path('build/lib.c'), '-o',
             v.path('build/lib.o')])
        for name in names:
            for place in PLACES:
                out = v.path(f'{place}/lib{name}.so')
                for _ in range(2):  # the second time over the first
                    run(['cc', '-g', '-shared', f'-fuse-ld={name}', v.path('build/lib.o'), '-o',
                         out])
                program = v.path(f'{place}/run-{name}')
                run(['cc', v.path('build/main.c'), out, f'-fuse-ld={name}', '-o', program,
                     f'-Wl,-rpath,{v.path(place)}'])
                run([program])
        before = {p: read_file(v.path(f'{p}/lib{n}.so')) for p in PLACES for n in names[:1]}
        v.remount()
        for name in names:
            for place in PLACES:
                run([v.path(f'{place}/run-{name}')])
        for place, data in before.items():
            true(v.read(f'{place}/lib{names[0]}.so') == data, f'{place}: the same bytes')


main(sqlite_with_a_killed_writer, git_clones_commits_and_repacks, compilers_and_linkers)
