# SPDX-License-Identifier: MIT
"""flock, POSIX and OFD locks hold among all users of a mount, exactly as on the layer itself, and
follow a file through copy-up, rename and its other names."""
import errno
import fcntl
import os
import shutil
import signal
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from daemontree import PLACES, SPEC, view  # noqa: E402
from mounted import (Skip, TempDir, equal, fails, main, need_program, read_file, run,  # noqa: E402
                     true, wait_for, write_file)
from private import as_asked  # noqa: E402
from routes import files  # noqa: E402

OFD_GETLK, OFD_SETLK = 36, 37
NB = fcntl.LOCK_NB


def record(kind, start=0, length=0):
    return struct.pack('hhqqi4x', kind, os.SEEK_SET, start, length, 0)


def posix(fd, kind, start=0, length=0, command=fcntl.F_SETLK):
    try:
        fcntl.fcntl(fd, command, record(kind, start, length))
        return 'ok'
    except OSError as e:
        return errno.errorcode[e.errno].replace('EACCES', 'EAGAIN')


def ofd(fd, kind, start=0, length=0):
    return posix(fd, kind, start, length, OFD_SETLK)


def flock(fd, how):
    try:
        fcntl.flock(fd, how | NB)
        return 'ok'
    except OSError as e:
        return errno.errorcode[e.errno].replace('EWOULDBLOCK', 'EAGAIN')


def in_child(call):
    """What @call says in another process: a short text."""
    r, w = os.pipe()
    pid = os.fork()
    if not pid:
        os.write(w, call().encode())
        os._exit(0)
    os.close(w)
    os.waitpid(pid, 0)
    text = os.read(r, 1000).decode()
    os.close(r)
    return text


def try_in_child(path, how, *args):
    def call():
        return how(os.open(path, os.O_RDWR), *args)

    return in_child(call)


def scenario(path):
    """What each kind of lock says step by step, on any file system."""
    out = []
    a, b = os.open(path, os.O_RDWR), os.open(path, os.O_RDWR)
    # POSIX locks belong to the process: closing any descriptor drops them
    out.append(('posix', posix(a, fcntl.F_WRLCK, 0, 10), posix(b, fcntl.F_WRLCK, 0, 10)))
    out.append(('other', try_in_child(path, posix, fcntl.F_RDLCK, 5, 1),
                try_in_child(path, posix, fcntl.F_RDLCK, 10, 1)))
    os.close(b)
    out.append(('dropped', try_in_child(path, posix, fcntl.F_WRLCK)))
    # OFD locks belong to the open file: closing another keeps them, a fork shares them
    b = os.open(path, os.O_RDWR)
    out.append(('ofd', ofd(a, fcntl.F_WRLCK, 0, 10), ofd(b, fcntl.F_RDLCK, 3, 1),
                posix(b, fcntl.F_RDLCK, 3, 1)))
    os.close(b)
    out.append(('kept', try_in_child(path, ofd, fcntl.F_RDLCK),
                in_child(lambda: ofd(a, fcntl.F_RDLCK, 0, 10))))
    out.append(('still', try_in_child(path, ofd, fcntl.F_WRLCK)))
    os.close(a)
    out.append(('closed', try_in_child(path, ofd, fcntl.F_WRLCK)))
    # flock belongs to the open file, too, and does not meet the others
    a, b = os.open(path, os.O_RDWR), os.open(path, os.O_RDONLY)
    out.append(('flock', flock(a, fcntl.LOCK_SH), flock(b, fcntl.LOCK_SH),
                flock(b, fcntl.LOCK_EX)))
    out.append(('alone', flock(a, fcntl.LOCK_UN), flock(b, fcntl.LOCK_EX),
                flock(a, fcntl.LOCK_SH)))
    c = os.dup(b)
    os.close(b)
    out.append(('dup', flock(a, fcntl.LOCK_SH), in_child(lambda: flock(c, fcntl.LOCK_EX))))
    out.append(('apart', posix(a, fcntl.F_WRLCK)))
    os.close(c)
    out.append(('gone', flock(a, fcntl.LOCK_EX)))
    os.close(a)
    # a lock for writing needs a descriptor for writing
    r = os.open(path, os.O_RDONLY)
    out.append(('read-only', posix(r, fcntl.F_WRLCK), posix(r, fcntl.F_RDLCK)))
    os.close(r)
    return out


def all_kinds_are_as_on_the_layer():
    with TempDir() as tmp, view() as v:
        write_file(f'{tmp}/native', 'x' * 100)
        want = scenario(f'{tmp}/native')
        for way, (name, _) in files(v).items():
            equal(scenario(v.path(name)), want, way)


def who_holds_it_is_told():
    with view() as v:
        for way, (name, _) in files(v).items():
            with open(v.path(name), 'r+b') as f:
                fcntl.lockf(f, fcntl.LOCK_EX | NB, 7, 3)

                def ask():
                    fd = os.open(v.path(name), os.O_RDWR)
                    kind, _, start, length, pid = struct.unpack(
                        'hhqqi4x', fcntl.fcntl(fd, fcntl.F_GETLK, record(fcntl.F_WRLCK)))
                    return f'{kind == fcntl.F_WRLCK} {start} {length} {pid}'

                equal(in_child(ask), f'True 3 7 {os.getpid()}', way)


def a_waiter_gets_it_from_a_killed_holder():
    with view() as v:
        for way, (name, _) in files(v).items():
            for take in (lambda f: fcntl.flock(f, fcntl.LOCK_EX),
                         lambda f: fcntl.lockf(f, fcntl.LOCK_EX)):
                r, w = os.pipe()
                holder = os.fork()
                if not holder:
                    f = open(v.path(name), 'r+b')
                    take(f)
                    os.write(w, b'x')
                    time.sleep(300)
                    os._exit(1)
                os.read(r, 1)
                waiter = os.fork()
                if not waiter:
                    signal.alarm(60)
                    with open(v.path(name), 'r+b') as f:
                        take(f)
                    os._exit(0)
                wait_for(lambda: blocked(waiter), f'{way}: it waits')
                os.kill(holder, signal.SIGKILL)
                os.waitpid(holder, 0)
                equal(os.waitpid(waiter, 0)[1], 0, f'{way}: the waiter')
                os.close(r)
                os.close(w)


def blocked(pid):
    """Does a process wait for a lock?  /proc/locks marks it with ->."""
    with open('/proc/locks', encoding='utf-8') as f:
        return any(' -> ' in line and f' {pid} ' in line for line in f)


def two_that_wait_for_each_other_are_told():
    with view() as v:
        for way, (name, _) in files(v).items():
            a = os.open(v.path(name), os.O_RDWR)
            equal(posix(a, fcntl.F_WRLCK, 0, 1), 'ok', f'{way}: the first byte')
            r, w = os.pipe()
            other = os.fork()
            if not other:
                signal.alarm(60)
                fd = os.open(v.path(name), os.O_RDWR)
                posix(fd, fcntl.F_WRLCK, 1, 1)
                os.write(w, b'x')
                os._exit(0 if posix(fd, fcntl.F_WRLCK, 0, 1, fcntl.F_SETLKW) == 'ok' else 1)
            os.read(r, 1)
            wait_for(lambda: blocked(other), f'{way}: it waits')
            equal(posix(a, fcntl.F_WRLCK, 1, 1, fcntl.F_SETLKW), 'EDEADLOCK', way)
            os.close(a)
            equal(os.waitpid(other, 0)[1], 0, f'{way}: the other gets it')
            os.close(r)
            os.close(w)


def a_lock_outlives_copy_up_and_rename():
    with view() as v:
        for how in (flock, posix, ofd):
            kind = fcntl.LOCK_EX if how is flock else fcntl.F_WRLCK
            shutil.copy(f'{v.root}/doc/t.txt', f'{v.root}/include/fresh-{how.__name__}.h')
            path = v.path(f'include/fresh-{how.__name__}.h')
            wait_for(lambda: os.path.exists(path), 'the new file')
            holder = os.open(path, os.O_RDWR)
            equal(how(holder, kind), 'ok', 'taken')
            os.write(holder, b'COPY')
            true(os.path.exists(f'{v.root}/{SPEC}/{os.path.basename(path)}'), 'it was copied up')
            equal(try_in_child(path, how, kind), 'EAGAIN', f'{how.__name__}: after a copy-up')
            os.rename(path, v.path('doc/moved'))
            equal(try_in_child(v.path('doc/moved'), how, kind), 'EAGAIN',
                  f'{how.__name__}: after a rename')
            os.close(holder)
            equal(try_in_child(v.path('doc/moved'), how, kind), 'ok', f'{how.__name__}: let go')


def other_names_of_a_file_have_the_lock():
    """A backend's file is seen where it is mapped and where it lies; a hard link is one file."""
    with view() as v:
        os.link(v.path('doc/t.txt'), v.path('doc/link'))
        for one, two in (('include/both.h', f'{SPEC}/both.h'), ('doc/t.txt', 'doc/link')):
            for how in (flock, posix, ofd):
                kind = fcntl.LOCK_EX if how is flock else fcntl.F_WRLCK
                fd = os.open(v.path(one), os.O_RDWR)
                equal(how(fd, kind), 'ok', one)
                equal(try_in_child(v.path(two), how, kind), 'EAGAIN', f'{one}, {two}')
                os.close(fd)


def a_lock_is_not_seen_underneath():
    """As README and manual say; what is locked in the mount is free in the checkout."""
    with view() as v:
        with open(v.path('doc/t.txt'), 'r+b') as a, open(f'{v.root}/doc/t.txt', 'r+b') as b:
            for how in (fcntl.flock, fcntl.lockf):
                how(a, fcntl.LOCK_EX | NB)
                how(b, fcntl.LOCK_EX | NB)
                how(a, fcntl.LOCK_UN)
                how(b, fcntl.LOCK_UN)


def as_another_user(argv):
    return ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', *argv]


def other_users_meet_the_same_locks():
    if os.geteuid() != 0:
        raise Skip('only root lets others in')
    need_program('setpriv', 'flock')
    with view(opts=['-o', 'allow_other']) as v:
        os.chmod(v.tmp, 0o755)
        for way, (name, _) in files(v).items():
            os.chmod(v.path(name), 0o666)
            with open(v.path(name), 'r+b') as f:
                fcntl.flock(f, fcntl.LOCK_EX)
                run(as_another_user(['flock', '-n', '-E', '9', v.path(name), 'true']), ok=(9, ))
            run(as_another_user(['flock', '-n', '-E', '9', v.path(name), 'true']))


def one_of_many_wins():
    """A lock file made by linking, by O_EXCL, by mkdir: exactly one winner each round."""
    def by_link(path):
        own = f'{path}.{os.getpid()}'
        os.close(os.open(own, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        try:
            os.link(own, path)
        finally:
            os.unlink(own)

    def by_excl(path):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o444))

    ways = {'link': by_link, 'O_EXCL': by_excl, 'mkdir': os.mkdir}
    with view() as v:
        os.mkdir(v.path('build'))
        for place in PLACES:
            for name, take in ways.items():
                pids = []
                for _ in range(8):
                    pid = os.fork()
                    if not pid:
                        os._exit(contend(take, v.path(f'{place}/{name}')))
                    pids.append(pid)
                codes = [os.waitstatus_to_exitcode(os.waitpid(p, 0)[1]) for p in pids]
                equal((sum(codes), max(codes) < 50), (20, True), f'{place}: locks by {name}')


def contend(take, base):
    """The number of the 20 locks that this process got first; 99 after another error."""
    won = 0
    for i in range(20):
        try:
            take(f'{base}{i}')
            won += 1
        except FileExistsError:
            pass
        except OSError as e:
            print(f'{base}{i}: {e}', flush=True)
            return 99
    return won


def counters_under_a_lock_lose_nothing():
    """flock(1) around read, add one, write: in shells, on every way."""
    need_program('flock')
    step = 'n=$(cat "$1"); echo $((n + 1)) >"$1"'
    script = f'for i in 1 2 3 4 5 6 7 8; do flock "$1" sh -c \'{step}\' sh "$1"; done'
    with view() as v:
        for way, (name, real) in files(v).items():
            v.write(name, '0\n')
            shells = [subprocess.Popen(['sh', '-c', script, 'sh', v.path(name)])
                      for _ in range(3)]
            equal([p.wait(60) for p in shells], [0] * 3, f'{way}: exit statuses')
            equal(v.read(name), b'24\n', f'{way}: counted')
            equal(read_file(real), b'24\n', f'{way}: in the layer')


as_asked()
main(all_kinds_are_as_on_the_layer, who_holds_it_is_told, a_waiter_gets_it_from_a_killed_holder,
     two_that_wait_for_each_other_are_told, a_lock_outlives_copy_up_and_rename,
     other_names_of_a_file_have_the_lock, a_lock_is_not_seen_underneath,
     other_users_meet_the_same_locks, one_of_many_wins, counters_under_a_lock_lose_nothing)
