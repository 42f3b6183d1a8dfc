# SPDX-License-Identifier: MIT
"""Taking views down, each way there is, leaves nothing: no mount, no process, no held scratch."""
import itertools
import os
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, 'lib'), os.path.join(HERE, '..', 'mount', 'lib')]

from checks import need_namespace, need_program, unmount, wait_for
from children import start, statuses
from mounted import equal, is_mounted, main, need_fuse, read_file, true
from workplace import Workplace

TREE = {'a': 'x\n', 'd/b': 'y\n'}


def nothing_is_left(w, at):
    """The mount is gone; the daemon goes with it, and then scratch can be had at once."""
    true(not is_mounted(at), f'{at} is not mounted')
    wait_for(lambda: not w.daemons(), 'the daemon ends')
    true(not os.path.lexists(at), f'{at}, which was made, is removed')
    equal(os.listdir(w.cache + '/specfs/mounts'), [], 'links to records')
    for name in os.listdir(w.cache + '/specfs'):
        lock = os.path.join(w.cache, 'specfs', name, 'lock')
        if os.path.exists(lock):
            true(read_file(lock).strip() in (b'', b'{}'), 'no record is in the lock file')


def umount_returns_when_the_daemon_has_ended():
    need_fuse()
    with Workplace(TREE) as w:
        at = w.path('m')
        for _ in range(20):
            w.specfs('mount', '-q', w.root, at)
            p = w.specfs('umount', at)
            equal((p.stdout, p.stderr), ('', ''), 'what umount says')
            equal(w.daemons(), [], 'daemons after umount has returned')
        nothing_is_left(w, at)


def relative_paths_and_links_are_taken():
    need_fuse()
    with Workplace(TREE) as w:
        os.symlink('m', w.path('link'))
        for name in ('m', './m/', '../' + os.path.basename(w.tmp) + '/m', 'link'):
            w.specfs('mount', '-q', w.root, w.path('m'))
            w.specfs('umount', name)
            true(not w.mounts(), f'nothing is mounted after umount {name}')


def the_systems_own_ways():
    need_fuse()
    with Workplace(TREE) as w:
        at = w.path('m')
        ways = [['fusermount3', '-u']]
        if os.geteuid() == 0:
            ways += [['umount']]
        for way in ways:
            need_program(way[0])
            w.specfs('mount', '-q', w.root, at)
            unmount(at, *way)
            nothing_is_left(w, at)
            w.specfs('mount', '-q', w.root, at)
            unmount(at, *way)
            # at once: scratch may still be held by the daemon that is going away
            w.specfs('mount', '-q', w.root, at)
            w.specfs('umount', at)


def rewrite(path):
    """Until somebody ends it, each time with another size."""
    sizes = itertools.cycle(range(1, 4000, 7))
    with open(path, 'r+b', buffering=0) as f:
        for size in sizes:
            f.truncate(size)


def what_others_write_underneath_keeps_no_view_busy():
    """The daemon looks at such a file through its own view, for a moment."""
    need_fuse()
    with Workplace(TREE) as w:
        at = w.path('m')
        writer = start(rewrite, os.path.join(w.root, 'a'))
        try:
            for _ in range(20):
                w.specfs('mount', '-q', w.root, at)
                read_file(at + '/a')
                equal(w.specfs('umount', at).stderr, '', 'what umount says')
        finally:
            os.kill(writer, signal.SIGKILL)
            statuses([writer])


def a_busy_view_names_its_users():
    need_fuse()
    with Workplace(TREE) as w:
        at = w.path('m')
        w.specfs('mount', '-q', w.root, at)
        p = subprocess.Popen(['sleep', '600'], cwd=at + '/d')
        try:
            w.fault('umount', at,
                    has=['is in use', f'{p.pid} (sleep, working directory)', '--lazy'])
            true(is_mounted(at), 'it is still mounted')
        finally:
            p.kill()
            p.wait()
        with open(at + '/a', 'rb'):
            w.fault('umount', at, has=['is in use', f'{os.getpid()} (python', 'open file'])
        w.specfs('umount', at)
        nothing_is_left(w, at)


def a_lazy_one_ends_with_its_last_user():
    need_fuse()
    with Workplace(TREE) as w:
        at = w.path('m')
        w.specfs('mount', '-q', w.root, at)
        with open(at + '/a', 'rb') as f:
            w.specfs('umount', '--lazy', at)
            true(not is_mounted(at), 'out of sight')
            equal(f.read(), b'x\n', 'what is open can be read')
            equal(len(w.daemons()), 1, 'the daemon lives')
            w.fault('mount', '-q', w.root, at, has='is in use by process')
        nothing_is_left(w, at)


def another_namespace_that_has_it_is_named():
    """A split-off mount namespace keeps the mount: that is said, and not after a minute."""
    need_fuse()
    need_namespace()
    with Workplace(TREE) as w:
        at = w.path('m')
        w.specfs('mount', '-q', w.root, at)
        p = subprocess.Popen(['unshare', '-m', 'sh', '-c', 'echo; exec sleep 600'],
                             stdout=subprocess.PIPE)
        try:
            p.stdout.read(1)
            wait_for(lambda: name_of(p.pid) == 'sleep', 'the other namespace')
            begun = time.monotonic()
            line = w.fault('umount', at, has=['is unmounted', 'namespace', f'{p.pid} (sleep)'])
            true(time.monotonic() - begun < 30, 'it does not wait for what may last for ever')
            true(not is_mounted(at), f'here it is gone, as {line!r} says')
            equal(len(w.daemons()), 1, 'the daemon serves the other namespace')
        finally:
            p.kill()
            p.wait()
            p.stdout.close()
        nothing_is_left(w, at)


def name_of(pid):
    with open(f'/proc/{pid}/comm', encoding='utf-8') as f:
        return f.read().strip()


def signals_end_it():
    need_fuse()
    with Workplace(TREE) as w:
        at = w.path('m')
        for sig in (15, 2, 1):
            w.specfs('mount', '-q', w.root, at)
            [pid] = w.daemons()
            os.kill(pid, sig)
            wait_for(lambda: not w.daemons(), f'the daemon ends after signal {sig}')
            nothing_is_left(w, at)


def a_mountpoint_with_something_under_it_stays():
    need_fuse()
    if os.geteuid() != 0:
        return # nobody else can write below a mount
    with Workplace(TREE) as w:
        at = w.path('m')
        fd = os.open(w.tmp, os.O_PATH)
        w.specfs('mount', '-q', w.root, at)
        w.specfs('umount', at)
        os.mkdir(at)
        below = os.open(at, os.O_PATH)
        w.specfs('mount', '-q', w.root, at)
        os.close(os.open('kept', os.O_CREAT | os.O_WRONLY, dir_fd=below))
        w.specfs('umount', at)
        equal(os.listdir(at), ['kept'], 'what somebody put there')
        os.close(fd)
        os.close(below)


def what_is_no_view_is_refused():
    need_fuse()
    with Workplace(TREE) as w:
        at = w.path('m')
        w.fault('umount', w.root, has=['nothing is mounted', 'specfs list'])
        w.fault('umount', w.path('nope'), has='nothing is mounted')
        w.fault('umount', w.path('no', 'pe'), has='No such file')
        w.fault('umount', '/proc', has='is no view')
        w.fault('umount', 'x' * 5000, has='File name too long')
        w.specfs('mount', '-q', w.root, at)
        w.fault('umount', at + '/d', has=['is inside the view', at])
        w.fault('umount', at + '/nope/x', has=['is inside the view', at])
        w.specfs('umount', at)
        w.fault('umount', at, has='nothing is mounted')


main(umount_returns_when_the_daemon_has_ended, relative_paths_and_links_are_taken,
     the_systems_own_ways, what_others_write_underneath_keeps_no_view_busy,
     a_busy_view_names_its_users, a_lazy_one_ends_with_its_last_user,
     another_namespace_that_has_it_is_named, signals_end_it,
     a_mountpoint_with_something_under_it_stays, what_is_no_view_is_refused)
