# SPDX-License-Identifier: MIT
"""Files that others cut, write anew and make longer in place, read all the while through the mount:
what is read is what was written, however short, and never has zeros that nobody wrote.
"""
import contextlib
import itertools
import mmap
import os
import time

from children import start, statuses
from mounted import View, equal, fails, main, read_file, true
from readers import ROOM, at_once, by_size

SECONDS = 1.2  # of each mix of a writer and its readers
MODES = {'auto': [], 'auto, named': [], 'strict': ['-o', 'cache=strict'],
         'ttl': ['-o', 'cache=ttl=1']}
CACHED = ('auto', 'auto, named')


def line(i):
    return b'run %d line\n' % i


# ------------------------------------------------------------------ writers, underneath


def anew(path, i):
    """A log rotated in place: longer than before, shorter, in one page and in many."""
    with open(path, 'r+b', buffering=0) as f:
        f.truncate(0)
        f.write(line(i) * (200, 800, 600, 1, 3000)[i % 5])


def anew_in_pieces(path, i):
    with open(path, 'wb', buffering=0) as f:
        for _ in range(5):
            f.write(line(i) * (40, 160, 1, 600)[i % 4])


def anew_and_large(path, i):
    with open(path, 'r+b', buffering=0) as f:
        f.truncate(0)
        f.write(line(i) * (9000, 30000, 100)[i % 3])


def longer(path, i):
    with open(path, 'ab', buffering=0) as f:
        if i % 300 == 0:
            f.truncate(0)
        f.write(line(i) * (1 + i % 7))


def only_longer(path, i):
    with open(path, 'ab', buffering=0) as f:
        f.write(line(i) * (1 + i % 7))


# ------------------------------------------------------------------ readers, in the mount


def in_pages(path):
    with open(path, 'rb', buffering=0) as f:
        return b''.join(iter(lambda: f.read(4096), b''))


def held():
    """By a descriptor that stays open."""
    fds = []

    def read(path):
        if not fds:
            fds.append(os.open(path, os.O_RDONLY))
        return os.pread(fds[0], ROOM, 0)
    return read


def mapped(path):
    """Only of a file that nobody cuts: whoever maps such a one is killed, natively, too."""
    with open(path, 'rb') as f:
        size = os.fstat(f.fileno()).st_size
        with mmap.mmap(f.fileno(), size, prot=mmap.PROT_READ) as m:
            return m[:]


# ------------------------------------------------------------------ no readers, but beside them


def touched(path):
    time.sleep(0.001)
    os.utime(path)
    return b''


def linked():
    """To a place elsewhere, which nobody waits for who tells of the file's directory."""
    names = (f'../links/{os.getpid()}.{i}' for i in itertools.count())

    def link(path):
        time.sleep(0.001)
        os.link(path, os.path.join(os.path.dirname(path), next(names)))
        return b''
    return link


def look(read, path, end):
    """Returns 1 if zeros were read. Whatever else may be read is other tests' business."""
    n = 0
    while time.monotonic() < end:
        got = read(path)
        n += 1
        if b'\0' in got:
            at = got.index(b'\0')
            near = got[max(at - 20, 0):at + 20]
            print(f'{read.__name__} {n}: {len(got)} bytes, {near!r} at {at}', flush=True)
            return 1
    return 0


def seen(writer, readers, v, names):
    """Let them loose; returns what the readers say."""
    below, end = os.path.join(v.root, 'doc/log'), time.monotonic() + SECONDS
    who = [start(look, read, v.path(name), end) for read in readers for name in names]
    i = 0
    while time.monotonic() < end:
        i += 1
        writer(below, i)
        time.sleep((i % 5) * 0.0008)
    said = statuses(who)
    v.cli('sync', v.mnt)
    with open(below, 'rb') as f:
        want = f.read()
    for name in names:
        equal(v.read(name), want, f'{writer.__name__}, {name}: at last')
    return said


@contextlib.contextmanager
def view(mode):
    with View({'doc/log': line(0) * 700, 'links/': ''}, opts=MODES[mode]) as v:
        os.link(os.path.join(v.root, 'doc/log'), os.path.join(v.root, 'doc/other'))
        yield v, ['doc/log', 'doc/other'] if mode == 'auto, named' else ['doc/log']


def check(writer, *readers, modes=MODES):
    for mode in modes:
        with view(mode) as (v, names):
            equal(set(seen(writer, readers, v, names)), {0}, f'{mode}: readers of zeros')


def written_anew():
    check(anew, at_once, read_file, in_pages, held())


def written_anew_in_pieces():
    check(anew_in_pieces, at_once, in_pages, held(), modes=CACHED)


def written_anew_and_large():
    check(anew_and_large, at_once, in_pages, modes=CACHED)


def made_longer_and_cut_at_times():
    check(longer, at_once, read_file, held())


def made_longer():
    check(only_longer, mapped, held(), in_pages, modes=CACHED)


def written_while_it_is_touched_and_linked():
    """The kernel takes the sizes in answers to that however old they are. Who gets no time to run
    with such an answer may bring back an old size for a moment; at last all is as it was written.
    """
    for writer, reader in ((longer, by_size), (anew_in_pieces, held())):
        with view('auto') as (v, names):
            seen(writer, (at_once, reader, touched, linked()), v, names)


def what_the_daemon_looks_at_is_not_for_others():
    """It brings sizes to the kernel by names of its own below .specfs."""
    with View({'doc/log': 'x\n'}) as v:
        st = os.stat(v.path('doc/log'))
        true(st.st_size == 2, 'known')
        for name in ('=17', f'=17.{os.getpid()}', '=', '=18446744073709551615.1'):
            fails(2, os.stat, v.path(f'.specfs/{name}'))
        with open(os.path.join(v.root, 'doc/log'), 'ab') as f:
            f.write(b'more\n')
        v.cli('sync', v.mnt)
        equal(v.read('doc/log'), b'x\nmore\n', 'longer')
        os.unlink(os.path.join(v.root, 'doc/log'))
        v.cli('sync', v.mnt)
        true(not v.exists('doc/log'), 'removed')


main(written_anew, written_anew_in_pieces, written_anew_and_large, made_longer_and_cut_at_times,
     made_longer, written_while_it_is_touched_and_linked,
     what_the_daemon_looks_at_is_not_for_others)
