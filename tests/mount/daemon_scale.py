# SPDX-License-Identifier: MIT
"""What grows with the tree and what does not: memory for what the kernel knows, given back when it
forgets; what a large index takes, what a change underneath and a deep directory cost."""
import hashlib
import os
import shutil
import struct
import time

from checks import fast, measurement
from children import undisturbed
from mounted import Skip, View, git, main, true, wait_for

DIRS, FILES = 150, 200  # in each
SCATTER = 6  # one of so many goes last
BYTES_PER_FILE = 600
INDEX_ENTRIES = 300_000
DAEMON_KB = 8000
DEPTH, PART = 400, 100
DEEP_FACTOR = 15
CHANGES, LARGE = 100, 5_000
SAME, FEW = 8, 20  # anything that grows with the tree is a hundred times that


def need_plain_memory(v):
    """What a sanitizer adds is not the daemon's."""
    with open(f'/proc/{v.daemon.pid}/maps', encoding='utf-8', errors='replace') as f:
        if any(name in line for line in f for name in ('libasan', 'libtsan', 'libubsan')):
            raise Skip('a sanitizer has memory of its own')


def memory_kb(v):
    """What the daemon has allocated and the system has given."""
    with open(f'/proc/{v.daemon.pid}/status', encoding='ascii', errors='replace') as f:
        return next(int(line.split()[1]) for line in f if line.startswith('RssAnon:'))


def known(v):
    return v.status()['cache']['nodes']


def many_files(root):
    for d in range(DIRS):
        os.makedirs(f'{root}/many/d{d}')
        for i in range(FILES):
            os.close(os.open(f'{root}/many/d{d}/file-{i}', os.O_WRONLY | os.O_CREAT))


def look_at_all(v):
    for where, _, files in os.walk(v.path('many')):
        for f in files:
            os.lstat(os.path.join(where, f))


def remove_scattered(v):
    """What goes last keeps, until then, a little everywhere of what all took."""
    for d in range(DIRS):
        for i in range(FILES):
            if i % SCATTER:
                os.unlink(f'{v.root}/many/d{d}/file-{i}')
    left = DIRS * FILES / SCATTER + DIRS
    wait_for(lambda: known(v) < left + 500, 'the kernel forgets most', 60)
    shutil.rmtree(f'{v.root}/many')
    wait_for(lambda: known(v) < 500, 'the kernel forgets what has gone', 60)


def memory_is_bounded_and_comes_back():
    with View({'a': ''}, prepare=many_files, use_git=False) as v:
        need_plain_memory(v)
        empty = memory_kb(v)
        for _ in range(5):
            with undisturbed():
                look_at_all(v)
                full, n = memory_kb(v), known(v)
            if n > DIRS * FILES * 0.9:
                break
        else:
            raise Skip(f'only {n} of {DIRS * FILES} files stay known: memory is short')
        cost = (full - empty) * 1024 / n
        true(cost < BYTES_PER_FILE, f'{cost:.0f} bytes a file, expected under {BYTES_PER_FILE}')
        remove_scattered(v)
        wait_for(lambda: memory_kb(v) - empty < (full - empty) / 2,
                 f'memory comes back: {empty} kB, {full} kB with {n} files')


def large_index(root):
    """As git writes it, of files that are not there: nobody but the index tells of them."""
    git(root, 'init', '-q')
    parts = [struct.pack('>4sLL', b'DIRC', 2, INDEX_ENTRIES)]
    for i in range(INDEX_ENTRIES):
        name = f'area{i // 1000:05}/directory/file-{i % 1000:03}.c'.encode()
        parts.append(bytes(24) + struct.pack('>L', 0o100644) + bytes(12) + bytes(20)
                     + struct.pack('>H', len(name)) + name + bytes(8 - (62 + len(name)) % 8))
    body = b''.join(parts)
    with open(f'{root}/.git/index', 'wb') as f:
        f.write(body + hashlib.sha1(body).digest())
    with open(f'{root}/.gitignore', 'w', encoding='ascii') as f:
        f.write('/build*/\n*.o\n')


def a_large_index_takes_no_memory():
    with View({'a': ''}, prepare=large_index, use_git=False) as v:
        need_plain_memory(v)
        for rel in 'build', 'zzz':
            os.mkdir(v.path(rel))
            v.write(f'{rel}/x.o', b'')
            true(not os.path.exists(f'{v.root}/{rel}/x.o'), f'{rel}/x.o is ignored: scratch has it')
        kb = memory_kb(v)
        true(kb < DAEMON_KB, f'{kb} kB with an index of {INDEX_ENTRIES}, at most {DAEMON_KB}')


def cpu_msec(v):
    """CPU time of the daemon, of threads that have ended, too: its clock, as clock_getcpuclockid()
    makes its number."""
    return time.clock_gettime_ns(~v.daemon.pid << 3 | 2) / 1e6


def change_underneath(v, rel):
    """What it costs the daemon to hear of files that come and go: CPU time, and what it tells."""
    def told():
        watch = v.status()['cache']['watch']
        return watch['entries'] + watch['attributes'] + watch['pages']
    os.stat(v.path(rel))
    v.cli('sync', v.mnt)
    before, told_before = cpu_msec(v), told()
    for i in range(CHANGES):
        path = f'{v.root}/{rel}/new-{i}'
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT))
        wait_for(lambda: os.path.exists(v.path(f'{rel}/new-{i}')), 'a new file')
        os.unlink(path)
        wait_for(lambda: not os.path.exists(v.path(f'{rel}/new-{i}')), 'one that has gone')
    wait_for(lambda: not v.status()['cache']['watch']['pending'], 'nothing left to tell')
    return cpu_msec(v) - before, (told() - told_before) / CHANGES


def one_large_directory(root):
    many_files(root)
    os.mkdir(f'{root}/many/large')
    for i in range(LARGE):
        os.close(os.open(f'{root}/many/large/file-{i}', os.O_WRONLY | os.O_CREAT))
    os.mkdir(f'{root}/small')


@measurement
def one_change_costs_the_same_in_any_tree():
    with View({'a': ''}, prepare=one_large_directory, use_git=False) as v:
        change_underneath(v, 'small')
        small, told_small = change_underneath(v, 'small')
        with undisturbed():
            look_at_all(v)
            os.listdir(v.path('many/large'))
            large, told_large = change_underneath(v, 'many/large')
        fast(large < SAME * small, f'{CHANGES} changes: {small:.0f} ms in a small tree, '
             f'{large:.0f} ms in a large one')
        true(told_large < told_small + FEW,
             f'the kernel is told {told_small} things for a change, {told_large} in a large tree')


@measurement
def depth_costs_no_square():
    """Making a directory in the 400th costs a few times what it costs in the first."""
    spec = 'third_party/b/spec/triton/language/x.py'
    with View({'python/triton/language/core.py': '', spec: ''}, 'b', ['-p', 'flagtree']) as v:
        at = os.open(v.path('python/triton/language'), os.O_PATH)
        costs = []
        for part in range(DEPTH // PART):
            before = cpu_msec(v)
            for i in range(PART):
                os.mkdir(f'd{i}', dir_fd=at)
                below = os.open(f'd{i}', os.O_PATH, dir_fd=at)
                os.close(at)
                at = below
            costs.append(cpu_msec(v) - before)
        os.close(at)
        first, last = costs[0], costs[-1]
        fast(last < DEEP_FACTOR * first,
             f'{PART} directories took {first:.0f} ms, the last ones {last:.0f} ms of CPU time')


main(memory_is_bounded_and_comes_back, a_large_index_takes_no_memory,
     one_change_costs_the_same_in_any_tree, depth_costs_no_square)
