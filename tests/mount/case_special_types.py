# SPDX-License-Identifier: MIT
"""Fifos, sockets, devices, dangling links: made in the mount or underneath, listed at once, used,
renamed and removed, on every way of a write."""
import errno
import os
import socket
import stat
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from daemontree import PLACES, SPEC, shows, view  # noqa: E402
from linux import link_open  # noqa: E402
from mounted import Skip, equal, fails, main, run, true, write_file  # noqa: E402
from private import as_asked  # noqa: E402

TYPES = {'fifo': stat.S_IFIFO, 'socket': stat.S_IFSOCK, 'dangling': stat.S_IFLNK}
LETTERS = {'fifo': 'p', 'socket': 's', 'dangling': 'l'}


def at_dir(path, call):
    """Call from inside a directory: a socket's path is short."""
    here = os.getcwd()
    os.chdir(path)
    try:
        return call()
    finally:
        os.chdir(here)


def make(path):
    """One of each below a directory."""
    os.mkfifo(os.path.join(path, 'fifo'))
    with socket.socket(socket.AF_UNIX) as s:
        at_dir(path, lambda: s.bind('socket'))
    os.symlink('nowhere/at/all', os.path.join(path, 'dangling'))


def those_underneath_are_listed_at_once():
    """Nobody opens a fifo to look at it."""

    def plant(root):
        for place in ('doc', SPEC):
            make(f'{root}/{place}')

    with view(dirty=plant) as v:
        for place in ('doc', 'include', SPEC):
            out = run(['ls', '-l', v.path(place)], limit_sec=60).stdout
            for name, kind in TYPES.items():
                path = v.path(f'{place}/{name}')
                equal(stat.S_IFMT(os.lstat(path).st_mode), kind, path)
                found = run(['find', v.path(place), '-type', LETTERS[name]], limit_sec=60).stdout
                equal(found, path + '\n', f'{place}: find -type {LETTERS[name]}')
                true(name in out, f'{place}: ls -l shows {name}')
            fails(errno.ENOENT, os.stat, v.path(f'{place}/dangling'))
            fails(errno.ENXIO, os.open, v.path(f'{place}/fifo'), os.O_WRONLY | os.O_NONBLOCK)
            fails(errno.ENXIO, os.open, v.path(f'{place}/socket'), os.O_RDONLY)


def made_in_the_mount_they_work():
    with view() as v:
        os.mkdir(v.path('build'))
        for place in PLACES:
            os.mkdir(v.path(f'{place}/special'))
            path = v.path(f'{place}/special')
            make(path)
            use_fifo(f'{path}/fifo', place)
            use_socket(path, place)
            os.unlink(f'{path}/socket')
            equal(sorted(os.listdir(path)), ['dangling', 'fifo'], f'{place}: after removal')
        real = {'build': f'{v.scratch}/upper/build', 'doc': f'{v.root}/doc',
                'include': f'{v.root}/{SPEC}'}
        v.remount()
        for place in PLACES:
            st = os.lstat(v.path(f'{place}/special/fifo'))
            true(stat.S_ISFIFO(st.st_mode), f'{place}: after a remount')
            use_fifo(v.path(f'{place}/special/fifo'), place)
            true(stat.S_ISFIFO(os.lstat(f'{real[place]}/special/fifo').st_mode),
                 f'{place}: in the layer')


def use_fifo(path, place):
    writer = subprocess.Popen(['sh', '-c', 'echo through it >"$1"', 'sh', path])
    out = run(['cat', path], limit_sec=60).stdout
    equal((out, writer.wait(60)), ('through it\n', 0), f'{place}: fifo')


def use_socket(path, place):
    os.unlink(os.path.join(path, 'socket'))
    with socket.socket(socket.AF_UNIX) as s:
        at_dir(path, lambda: s.bind('socket'))
        s.listen()
        with socket.socket(socket.AF_UNIX) as c:
            at_dir(path, lambda: c.connect('socket'))
            a, _ = s.accept()
            a.sendall(b'hello')
            equal(c.recv(10), b'hello', f'{place}: socket')
            a.close()
    with socket.socket(socket.AF_UNIX) as c:
        fails(errno.ECONNREFUSED, lambda: at_dir(path, lambda: c.connect('socket')))


def renamed_between_all_places_they_stay_what_they_are():
    with view() as v:
        os.mkdir(v.path('build'))
        for a in PLACES:
            for b in PLACES:
                os.mkdir(v.path(f'{a}/from'))
                make(v.path(f'{a}/from'))
                os.chmod(v.path(f'{a}/from/fifo'), 0o640)
                os.rename(v.path(f'{a}/from/fifo'), v.path(f'{b}/alone'))
                st = os.lstat(v.path(f'{b}/alone'))
                equal((stat.S_ISFIFO(st.st_mode), st.st_mode & 0o777), (True, 0o640), f'{a}, {b}')
                os.rename(v.path(f'{a}/from'), v.path(f'{b}/to'))
                equal(sorted(os.listdir(v.path(f'{b}/to'))), ['dangling', 'socket'], f'{a}, {b}')
                equal(stat.S_IFMT(os.lstat(v.path(f'{b}/to/socket')).st_mode), stat.S_IFSOCK,
                      f'{a}, {b}: in a directory')
                equal(os.readlink(v.path(f'{b}/to/dangling')), 'nowhere/at/all', f'{a}, {b}')
                run(['rm', '-r', v.path(f'{b}/to'), v.path(f'{b}/alone')])


def types_replace_each_other():
    """A file over a fifo, a link over a socket: in the mount by rename, underneath by hand."""
    with view() as v:
        os.mkdir(v.path('build'))
        for place in PLACES:
            os.mkdir(v.path(f'{place}/t'))
            path = v.path(f'{place}/t')
            make(path)
            v.write(f'{place}/t/file', 'a file\n')
            os.rename(f'{path}/file', f'{path}/fifo')
            equal(v.read(f'{place}/t/fifo'), b'a file\n', f'{place}: file over fifo')
            os.rename(f'{path}/dangling', f'{path}/socket')
            equal(os.readlink(f'{path}/socket'), 'nowhere/at/all', f'{place}: link over socket')
            os.mkdir(f'{path}/dir')
            fails(errno.EISDIR, os.rename, f'{path}/fifo', f'{path}/dir')
            fails(errno.ENOTDIR, os.rename, f'{path}/dir', f'{path}/fifo')
        os.unlink(f'{v.root}/doc/t.txt')
        os.mkfifo(f'{v.root}/doc/t.txt')
        shows(lambda: stat.S_IFMT(os.lstat(v.path('doc/t.txt')).st_mode), stat.S_IFIFO, 'a fifo')
        os.unlink(f'{v.root}/doc/t.txt')
        write_file(f'{v.root}/doc/t.txt', 'again\n')
        # opened while it is still known as a fifo, it would wait for a writer
        shows(lambda: stat.S_IFMT(os.lstat(v.path('doc/t.txt')).st_mode), stat.S_IFREG, 'a file')
        shows(lambda: v.read('doc/t.txt'), b'again\n', 'a file again')


def attributes_of_a_fifo_change_where_it_belongs():
    """A trunk fifo of a mapped place is copied up as a fifo."""
    with view(dirty=lambda root: os.mkfifo(f'{root}/include/fifo.h', 0o600)) as v:
        before = os.lstat(f'{v.root}/include/fifo.h')
        os.chmod(v.path('include/fifo.h'), 0o644)
        os.utime(v.path('include/fifo.h'), ns=(1, 2))
        st = os.lstat(v.path('include/fifo.h'))
        equal((stat.S_ISFIFO(st.st_mode), st.st_mode & 0o777, st.st_mtime_ns), (True, 0o644, 2),
              'in the view')
        st = os.lstat(f'{v.root}/{SPEC}/fifo.h')
        equal((stat.S_ISFIFO(st.st_mode), st.st_mode & 0o777), (True, 0o644), 'the copy')
        after = os.lstat(f'{v.root}/include/fifo.h')
        equal((after.st_mode, after.st_mtime_ns), (before.st_mode, before.st_mtime_ns), 'trunk')


def need_root():
    if os.geteuid() != 0:
        raise Skip('only root makes devices')


def devices_keep_their_numbers():
    need_root()
    numbers = {'null': (1, 3), 'zero': (0, 0), 'disk': (7, 250)}

    def make_devices(path):
        for name, (major, minor) in numbers.items():
            kind = stat.S_IFBLK if name == 'disk' else stat.S_IFCHR
            os.mknod(os.path.join(path, name), kind | 0o600, os.makedev(major, minor))

    def check(path):
        for name, (major, minor) in numbers.items():
            st = os.lstat(os.path.join(path, name))
            equal((os.major(st.st_rdev), os.minor(st.st_rdev)), (major, minor), f'{path}/{name}')
            equal(stat.S_ISBLK(st.st_mode), name == 'disk', f'{path}/{name}')

    def plant(root):
        for place in ('doc', SPEC):
            os.makedirs(f'{root}/{place}/under')
            make_devices(f'{root}/{place}/under')

    with view(dirty=plant) as v:
        os.mkdir(v.path('build'))
        for place in ('doc', 'include'):
            check(v.path(f'{place}/under'))
            equal(v.listdir(f'{place}/under'), sorted(numbers), f'{place}: none is a mark')
        for place in PLACES:
            os.mkdir(v.path(f'{place}/made'))
            make_devices(v.path(f'{place}/made'))
            check(v.path(f'{place}/made'))
            fails(errno.EACCES, os.open, v.path(f'{place}/made/null'), os.O_RDONLY)  # nodev
        v.remount()
        for place in PLACES:
            check(v.path(f'{place}/made'))
            run(['rm', '-r', v.path(f'{place}/made')])
            true(not v.exists(f'{place}/made'), f'{place}: removed')


def a_file_that_looks_like_a_mark_is_only_a_file():
    """What other overlays use as marks, and our own names as ordinary files."""
    names = ['.wh.t.txt', '.wh..wh..opq', '.fuse_hidden0001', 'user.specfs.whiteout']
    with view() as v:
        os.mkdir(v.path('build'))
        for place in PLACES:
            os.makedirs(v.path(f'{place}/marks'))
            v.write(f'{place}/marks/t.txt', 'x')
            for name in names:
                v.write(f'{place}/marks/{name}', '')
            equal(v.listdir(f'{place}/marks'), sorted(names + ['t.txt']), f'{place}: names')
        write_file(f'{v.root}/doc/.wh.sub', '')
        shows(lambda: v.listdir('doc'), ['.wh.sub', 'marks', 'sub', 't.txt'], 'made underneath')
        v.remount()
        for place in PLACES:
            equal(v.listdir(f'{place}/marks'), sorted(names + ['t.txt']), f'{place}: remounted')


def a_nameless_file_is_refused_as_programs_expect():
    """O_TMPFILE works, or says EOPNOTSUPP."""
    with view() as v:
        os.mkdir(v.path('build'))
        for place in PLACES:
            try:
                fd = os.open(v.path(place), os.O_TMPFILE | os.O_RDWR, 0o600)
            except OSError as e:
                equal(e.errno, errno.EOPNOTSUPP, f'{place}: O_TMPFILE')
                continue
            os.write(fd, b'named later')
            link_open(fd, v.path(f'{place}/named'))
            equal(v.read(f'{place}/named'), b'named later', place)
            os.close(fd)


as_asked()
main(those_underneath_are_listed_at_once, made_in_the_mount_they_work,
     renamed_between_all_places_they_stay_what_they_are, types_replace_each_other,
     attributes_of_a_fifo_change_where_it_belongs, devices_keep_their_numbers,
     a_file_that_looks_like_a_mark_is_only_a_file, a_nameless_file_is_refused_as_programs_expect)
