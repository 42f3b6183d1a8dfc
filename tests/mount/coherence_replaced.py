# SPDX-License-Identifier: MIT
"""Files that others replace by renaming new ones over them, as editors and generators do. Who looks
at the directory may see a new one while it is still empty, by its temporary name; by its own name
nobody sees it empty.
"""
import os
import time
import zlib

from children import start, statuses
from linux import RENAME_EXCHANGE, renameat2
from mounted import View, equal, main, read_file, true, write_file
from readers import at_once

FILES = 4
SECONDS = 6
MODES = {'auto': [], 'strict': ['-o', 'cache=strict'], 'ttl': ['-o', 'cache=ttl=1']}
GONE = OSError  # it is another one by now: ENOENT, ESTALE


def replace(root, k, end):
    """Each new file is empty for a moment, longer at times than a reply is on its way."""
    i = 0
    while time.monotonic() < end:
        i += 1
        path = f'{root}/doc/f{(i * 7 + k) % FILES}'
        with open(f'{path}.{k}', 'wb', buffering=0) as f:
            time.sleep(i % 5 * 0.0004)
            f.write(b'x' * (1 + i * 311 % 9000))
        os.replace(f'{path}.{k}', path)
        time.sleep(i % 3 * 0.0015)


def look(v, end):
    while time.monotonic() < end:
        for name in os.listdir(v.path('doc')):
            try:
                os.lstat(v.path(f'doc/{name}'))
            except GONE:
                pass


def length(read):
    return lambda path: len(read(path))


def size(path):
    return os.stat(path).st_size


def look_for_none(how, v, end):
    """Returns whether any of them found nothing."""
    i = n = 0
    while time.monotonic() < end:
        i += 1
        try:
            n += how(v.path(f'doc/f{i % FILES}')) == 0
        except GONE:
            pass
    if n:
        print(f'{n} of {i} find it empty', flush=True)
    return n > 0


def check(mode, seconds):
    with View({f'doc/f{i}': 'first\n' for i in range(FILES)}, opts=MODES[mode]) as v:
        end = time.monotonic() + seconds
        writers = [start(replace, v.root, k, end) for k in range(2)]
        readers = [start(look, v, end) for _ in range(2)]
        readers += [start(look_for_none, how, v, end)
                    for how in (length(at_once), length(at_once), length(read_file), size)]
        equal(set(statuses(writers)), {0}, 'writers')
        equal(set(statuses(readers)), {0}, f'{mode}: readers of empty files')
        v.cli('sync', v.mnt)
        for i in range(FILES):
            equal(os.stat(v.path(f'doc/f{i}')).st_size, os.stat(f'{v.root}/doc/f{i}').st_size,
                  f'size of f{i} at last')
            with open(f'{v.root}/doc/f{i}', 'rb') as f:
                true(v.read(f'doc/f{i}') == f.read(), f'f{i} at last')


def cached():
    check('auto', SECONDS)


def not_cached():
    check('strict', SECONDS / 3)


def cached_for_a_time():
    check('ttl', SECONDS / 3)


def whole(n):
    """A content that tells whether it is all there, of a length of its own."""
    body = b'%d\n' % n * (n % 3000 + 1)
    return b'%08x\n' % zlib.crc32(body) + body


def rename_in_the_mount(how, v, k, end):
    i = k
    while time.monotonic() < end:
        i += 1
        try:
            how(v.path(f'doc/f{i % FILES}'), v.path(f'doc/f{i * 7 % 3}'))
        except GONE:
            pass
        time.sleep(i % 3 * 0.0005)


def replace_underneath(root, k, end):
    i = k
    while time.monotonic() < end:
        i += 1
        path = f'{root}/doc/f{i % FILES}'
        write_file(f'{path}.{k}', whole(i * 311 % 9000))
        os.replace(f'{path}.{k}', path)
        time.sleep(i % 4 * 0.0005)


def hold(v, end):
    """What an open file has stays what it is, and is all of one file."""
    i = wrong = 0
    while time.monotonic() < end:
        i += 1
        try:
            fd = os.open(v.path(f'doc/f{i % FILES}'), os.O_RDONLY)
        except GONE:
            continue
        try:
            got = os.pread(fd, 1 << 20, 0)
            wrong += got[:8] != b'%08x' % zlib.crc32(got[9:])
            time.sleep(0.002)
            wrong += os.pread(fd, 1 << 20, 0) != got
        except GONE:
            pass
        finally:
            os.close(fd)
    return wrong > 0


def renamed_in_the_mount_meanwhile():
    for how in (os.rename, lambda a, b: renameat2(a, b, RENAME_EXCHANGE)):
        with View({f'doc/f{i}': whole(i).decode() for i in range(FILES)}) as v:
            end = time.monotonic() + SECONDS / 2
            others = [start(rename_in_the_mount, how, v, k, end) for k in range(2)]
            others += [start(replace_underneath, v.root, k, end) for k in range(2)]
            holders = [start(hold, v, end) for _ in range(4)]
            equal(set(statuses(others)), {0}, 'writers')
            equal(set(statuses(holders)), {0}, 'readers of what was replaced')


main(renamed_in_the_mount_meanwhile, cached, not_cached, cached_for_a_time)
