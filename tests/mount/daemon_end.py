# SPDX-License-Identifier: MIT
"""How a daemon ends: by unmounting, by signals, with the mount in use; nothing written is lost."""
import errno
import mmap
import os
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from checks import unmount  # noqa: E402
from daemontree import view  # noqa: E402
from mounted import equal, fails, is_mounted, main, read_file, true, wait_for  # noqa: E402


def ended(v, what):
    wait_for(lambda: v.daemon.poll() is not None, f'{what}: the daemon ends')
    equal(v.daemon.returncode, 0, f'{what}: exit status')
    true(not is_mounted(v.mnt), f'{what}: nothing is mounted')
    v.daemon = None


def signals_unmount():
    for sig in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        with view() as v:
            v.write('doc/f', 'written\n')
            v.daemon.send_signal(sig)
            ended(v, sig.name)
            equal(read_file(v.root + '/doc/f'), b'written\n', f'{sig.name}: what was written')


def unmounting_ends_the_daemon():
    with view() as v:
        os.listdir(v.mnt)
        unmount(v.mnt, *([] if os.geteuid() == 0 else ['fusermount3', '-u']))
        ended(v, 'umount')


def a_mount_in_use_is_detached():
    with view() as v:
        fd = os.open(v.path('doc/t.txt'), os.O_RDWR)
        m = mmap.mmap(fd, 10)
        m[0:5] = b'DIRTY'
        v.daemon.send_signal(signal.SIGTERM)
        wait_for(lambda: not is_mounted(v.mnt), 'it is detached')
        wait_for(lambda: read_file(v.root + '/doc/t.txt')[:5] == b'DIRTY',
                 'what a map had changed is written')
        equal(os.pread(fd, 5, 0), b'DIRTY', 'who uses it still can')
        os.pwrite(fd, b'LATER', 0)
        equal(read_file(v.root + '/doc/t.txt')[:5], b'LATER', 'also for writing')
        m.close()
        os.close(fd)
        ended(v, 'after the last user')


def a_second_signal_does_not_wait():
    with view() as v:
        fd = os.open(v.path('doc/t.txt'), os.O_RDONLY)
        v.daemon.send_signal(signal.SIGTERM)
        wait_for(lambda: not is_mounted(v.mnt), 'it is detached')
        true(v.daemon.poll() is None, 'it waits for the user')
        v.daemon.send_signal(signal.SIGTERM)
        ended(v, 'second signal')
        fails(errno.ENOTCONN, os.close, fd)


def a_killed_daemon_loses_nothing():
    with view() as v:
        os.mkdir(v.path('build'))
        for place in ('build', 'doc', 'include'):
            with open(v.path(f'{place}/f'), 'w') as f:
                f.write('acknowledged\n')
        v.kill()
        v.remount()
        for place in ('build', 'doc', 'include'):
            equal(v.read(f'{place}/f'), b'acknowledged\n', place)


main(signals_unmount, unmounting_ends_the_daemon, a_mount_in_use_is_detached,
     a_second_signal_does_not_wait, a_killed_daemon_loses_nothing)
