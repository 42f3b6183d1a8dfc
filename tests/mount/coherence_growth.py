# SPDX-License-Identifier: MIT
"""A file that grows underneath shows its old content or its new one, never zeros at a new end."""
import json
import os
import threading
import time

from children import start, statuses
from mounted import View, equal, main, true, wait_for, write_file
from readers import at_once, by_size

EDITS = 400
LARGE = 400_000  # several READs
LARGE_SEC = 4


def pages_dropped(v):
    return json.loads(v.read('.specfs/status'))['cache']['watch']['pages']


def append(path, text):
    fd = os.open(path, os.O_WRONLY | os.O_APPEND)
    try:
        os.write(fd, text)
    finally:
        os.close(fd)


def each_append_shows_whole():
    with View({'log': 'begin\n'}) as v:
        below, wanted = os.path.join(v.root, 'log'), b'begin\n'
        for i in range(EDITS):
            before = v.read('log')
            equal(before, wanted, 'what the kernel has')
            append(below, b'line %d\n' % i)
            wanted += b'line %d\n' % i

            def shows():
                got = v.read('log')
                true(got in (before, wanted), f'edit {i}: {got[len(before) - 8:]!r}')
                return got == wanted
            wait_for(shows, f'edit {i}')


def readers_of_a_growing_file_see_no_zeros():
    with View({'log': 'begin\n'}) as v:
        faults, end = [], threading.Event()

        def look():
            while not end.is_set():
                size, got = os.stat(v.path('log')).st_size, v.read('log')
                if b'\0' in got or len(got) < size:
                    faults.append((size, got[-40:]))

        readers = [threading.Thread(target=look) for _ in range(3)]
        for reader in readers:
            reader.start()
        for i in range(EDITS):
            append(os.path.join(v.root, 'log'), b'line %d\n' % i)
        end.set()
        for reader in readers:
            reader.join()
        equal(faults[:3], [], 'sizes and ends that were read')


def through_another_name_of_a_hard_link():
    """Nobody tells of it; once the kernel asks for the size, the content is there, too."""
    with View({'log': 'begin\n'}) as v:
        other = os.path.join(v.tmp, 'other')
        os.link(os.path.join(v.root, 'log'), other)
        wanted = v.read('log')
        for i in range(20):
            before = wanted
            append(other, b'line %d\n' % i)
            wanted += b'line %d\n' % i
            true(v.read('log') in (before, wanted), f'edit {i}: {v.read("log")!r}')
            v.cli('sync', v.mnt)
            equal(v.read('log'), wanted, f'edit {i}, after sync')


def what_the_mount_writes_keeps_its_pages():
    with View({'log': 'begin\n'}) as v:
        wanted = v.read('log')
        dropped = pages_dropped(v)
        for i in range(50):
            append(v.path('log'), b'line %d\n' % i)
            wanted += b'line %d\n' % i
            equal((os.stat(v.path('log')).st_size, v.read('log')), (len(wanted), wanted), 'own')
        equal(pages_dropped(v), dropped, 'nodes whose pages were dropped')


def look_for_less(read, path, end):
    n = less = 0
    while time.monotonic() < end:
        try:
            got = len(read(path))
        except OSError:  # it is another one by now: ENOENT, ESTALE
            continue
        n += 1
        less += got < LARGE
        if got < LARGE:
            print(f'{read.__name__} {n}: {got} bytes', flush=True)
    return less > 0


def a_large_one_is_never_shorter_than_it_was():
    """Each is a new one, of which nothing has been read: so it is read while it grows first."""
    with View({'log': 'x' * LARGE}) as v:
        below, end = os.path.join(v.root, 'log'), time.monotonic() + LARGE_SEC
        readers = [start(look_for_less, read, v.path('log'), end)
                   for read in (at_once, by_size) * 2]
        while time.monotonic() < end:
            write_file(below + '.new', 'x' * LARGE)
            os.rename(below + '.new', below)
            for _ in range(30):
                append(below, b'line\n')
                time.sleep(0.0003)
        equal(statuses(readers), [0] * 4, 'readers that found less')


main(each_append_shows_whole, readers_of_a_growing_file_see_no_zeros,
     through_another_name_of_a_hard_link, what_the_mount_writes_keeps_its_pages,
     a_large_one_is_never_shorter_than_it_was)
