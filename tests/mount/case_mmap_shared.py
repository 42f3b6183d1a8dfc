# SPDX-License-Identifier: MIT
"""Shared maps are the file: coherent with read and write in every process, and in the layer."""
import mmap
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from daemontree import PLACES, SPEC, view  # noqa: E402
from mounted import equal, main, read_file, true, wait_for  # noqa: E402
from private import as_asked  # noqa: E402
from routes import bystanders, files  # noqa: E402

PAGE = mmap.PAGESIZE


def a_map_and_the_file_are_one_on_every_way():
    with view() as v:
        before, table = bystanders(v), files(v)
        for way, (name, real) in table.items():
            fd = os.open(v.path(name), os.O_RDWR)
            size = os.fstat(fd).st_size
            with mmap.mmap(fd, size, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE) as m:
                m[0:3] = b'MAP'
                equal(os.pread(fd, 3, 0), b'MAP', f'{way}: read after a store')
                os.pwrite(fd, b'PUT', 3)
                equal(m[0:6], b'MAPPUT', f'{way}: the map after a write')
                m.flush()
                equal(read_file(real)[:6], b'MAPPUT', f'{way}: the layer after msync')
                equal(len(read_file(real)), size, f'{way}: size in the layer')
            os.close(fd)
        v.remount()
        for way, (name, _) in table.items():
            equal(v.read(name)[:6], b'MAPPUT', f'{way}: after a remount')
        equal(bystanders(v), before, 'the files that the backend shadows')


def a_private_map_changes_nothing():
    with view() as v:
        for way, (name, _) in files(v).items():
            old = v.read(name)
            with open(v.path(name), 'rb') as f, mmap.mmap(f.fileno(), 0, mmap.MAP_PRIVATE) as m:
                m[0:3] = b'OWN'
            equal(v.read(name), old, way)


def a_map_over_the_end_grows_with_the_file():
    with view() as v:
        for way, (name, real) in files(v).items():
            fd = os.open(v.path(name), os.O_RDWR)
            os.ftruncate(fd, 2 * PAGE)
            with mmap.mmap(fd, 2 * PAGE) as m:
                m[PAGE:PAGE + 3] = b'END'
                os.ftruncate(fd, PAGE)
                os.ftruncate(fd, 2 * PAGE)
                equal(m[PAGE:PAGE + 3], b'\0\0\0', f'{way}: cut off and zeros')
                m[PAGE:PAGE + 3] = b'NEW'
            equal(os.pread(fd, 3, PAGE), b'NEW', f'{way}: read')
            os.fsync(fd)
            os.close(fd)
            equal(read_file(real)[PAGE:PAGE + 3], b'NEW', f'{way}: the layer')


def dirty_pages_survive_the_descriptor_and_the_name():
    """As linkers do it: map, close, store, unmap, rename over the old file."""
    with view() as v:
        os.mkdir(v.path('build'))
        for place in PLACES:
            v.write(f'{place}/cache.bin', b'old' * 1000)
            fd = os.open(v.path(f'{place}/cache.tmp'), os.O_RDWR | os.O_CREAT | os.O_EXCL)
            os.ftruncate(fd, 3 * PAGE)
            m = mmap.mmap(fd, 3 * PAGE)
            os.close(fd)
            m[:] = b'n' * 3 * PAGE
            os.rename(v.path(f'{place}/cache.tmp'), v.path(f'{place}/cache.bin'))
            m[PAGE:PAGE + 5] = b'later'
            m.close()
            want = b'n' * PAGE + b'later' + b'n' * (2 * PAGE - 5)
            equal(v.read(f'{place}/cache.bin') == want, True, f'{place}: the view')
        v.remount()
        for place in PLACES:
            equal(v.read(f'{place}/cache.bin') == want, True, f'{place}: after a remount')


def reader(path, at, slots, end):
    """Numbers at @at never go back: what a write or a store has finished, everybody sees."""
    fd, last = os.open(path, os.O_RDONLY), [0] * slots
    while time.monotonic() < end:
        for i in range(slots):
            n = int.from_bytes(os.pread(fd, 8, at + 8 * i), 'little')
            if n < last[i]:
                print(f'slot {i}: {n} after {last[i]}', flush=True)
                return 1
            last[i] = n
    return 0 if all(last) else 2


def readers_maps_and_writers_agree():
    """One process reads, one stores through a map, one writes; each looks at what the others did"""
    with view() as v:
        for way, (name, _) in files(v).items():
            path = v.path(name)
            os.truncate(path, 2 * PAGE)
            with open(path, 'r+b') as f:
                f.write(bytes(2 * PAGE))
            end = time.monotonic() + 0.5
            pid = os.fork()
            if not pid:
                os._exit(reader(path, 512, 2, end + 0.2))
            fd, fd2 = os.open(path, os.O_RDWR), os.open(path, os.O_RDWR)
            with mmap.mmap(fd, 2 * PAGE) as m:
                n = 0
                while time.monotonic() < end:
                    n += 1
                    m[512:520] = n.to_bytes(8, 'little')
                    equal(os.pread(fd2, 8, 512), n.to_bytes(8, 'little'), f'{way}: store, read')
                    os.pwrite(fd2, n.to_bytes(8, 'little'), 520)
                    equal(m[520:528], n.to_bytes(8, 'little'), f'{way}: write, load')
            os.close(fd)
            os.close(fd2)
            equal(os.waitpid(pid, 0)[1], 0, f'{way}: what the reader says')


def appended_lines(fd, who, count):
    for i in range(count):
        os.write(fd, b'%s %05d\n' % (who, i))


def appends_work_and_stay_whole():
    with view() as v:
        for way, (name, real) in files(v).items():
            path = v.path(name)
            os.truncate(path, 0)
            with open(path, 'ab') as f:
                f.write(b'a\n')
            fd = os.open(path, os.O_WRONLY | os.O_APPEND)
            os.write(fd, b'b\n')
            os.pwrite(fd, b'c\n', 0)  # Linux appends it all the same
            equal(v.read(name), b'a\nb\nc\n', f'{way}: appended')
            pids = []
            for who in (b'one', b'two'):
                pid = os.fork()
                if not pid:
                    own = os.open(path, os.O_WRONLY | os.O_APPEND)
                    appended_lines(own, who, 200)
                    os._exit(0)
                pids.append(pid)
            equal([os.waitpid(pid, 0)[1] for pid in pids], [0, 0], f'{way}: appenders')
            os.close(fd)
            lines = v.read(name).split(b'\n')[3:-1]
            for who in (b'one', b'two'):
                equal([x for x in lines if x.startswith(who)],
                      [b'%s %05d' % (who, i) for i in range(200)], f'{way}: lines of {who}')
            equal(len(lines), 400, f'{way}: lines')
            equal(read_file(real), v.read(name), f'{way}: the layer')


def nothing_is_empty_after_close():
    """What another process wrote and closed is there at once, by either path."""
    with view() as v:
        for way, (name, real) in files(v).items():
            for i in range(60):
                data = b'%d ' % i * 300
                pid = os.fork()
                if not pid:
                    if i % 2:
                        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
                    fd = os.open(v.path(name), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
                    os.write(fd, data)
                    os.close(fd)
                    os._exit(0)
                equal(os.waitpid(pid, 0)[1], 0, 'writer')
                equal(v.read(name) == data, True, f'{way}: the view, round {i}')
                equal(read_file(real) == data, True, f'{way}: the layer, round {i}')


def a_program_is_mapped_while_it_is_rebuilt():
    """A shared object replaced by rename stays what it was for those who run it."""
    with view() as v:
        os.mkdir(v.path('build'))
        for place in PLACES:
            v.write(f'{place}/lib.so', b'one' * 5000)
            with open(v.path(f'{place}/lib.so'), 'rb') as f:
                m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ | mmap.PROT_EXEC)
            v.write(f'{place}/lib.new', b'two' * 5000)
            os.rename(v.path(f'{place}/lib.new'), v.path(f'{place}/lib.so'))
            equal(m[:3], b'one', f'{place}: the old one')
            equal(m[-3:], b'one', f'{place}: a page that was not looked at')
            equal(v.read(f'{place}/lib.so')[:3], b'two', f'{place}: the new one')
            m.close()


def an_edit_underneath_shows_in_maps():
    with view() as v:
        for name, real in (('doc/t.txt', 'doc/t.txt'), ('include/both.h', f'{SPEC}/both.h')):
            with open(v.path(name), 'rb') as f:
                m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)
            true(m[:], 'looked at')
            with open(f'{v.root}/{real}', 'r+b') as f:
                f.write(b'EDIT')
            wait_for(lambda: m[:4] == b'EDIT', f'{name}: the map')
            m.close()


as_asked()
main(a_map_and_the_file_are_one_on_every_way, a_private_map_changes_nothing,
     a_map_over_the_end_grows_with_the_file, dirty_pages_survive_the_descriptor_and_the_name,
     readers_maps_and_writers_agree, appends_work_and_stay_whole, nothing_is_empty_after_close,
     a_program_is_mapped_while_it_is_rebuilt, an_edit_underneath_shows_in_maps)
