# SPDX-License-Identifier: MIT
"""A daemon that was killed: its mount is told, cleared away and recovered; nobody hangs on it."""
import os
import signal
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, 'lib'), os.path.join(HERE, '..', 'mount', 'lib')]

from checks import Skip, read_file, unmount, wait_for, write_file
from mounted import equal, is_mounted, main, need_fuse, true
from namespace import run_again_privately
from workplace import Workplace, kill

TREE = {'a': 'x\n', '.gitignore': '*.o\n'}
QUICK_SEC = 10


def dead_view(w, at, *words):
    """Mounts at @at and kills the daemon; returns its pid."""
    pid = w.json('mount', *words, w.root, at)['pid']
    kill(pid)
    true(is_mounted(at), 'the mount outlives its daemon')
    return pid


def list_tells_it_quickly():
    need_fuse()
    with Workplace(TREE) as w:
        pid = dead_view(w, w.path('m'))
        [o] = [o for o in w.json('list') if o['mountpoint'].startswith(w.tmp)]
        equal((o['mountpoint'], o['root'], o['pid'], o['state']),
              (w.path('m'), w.root, pid, 'dead'), 'as listed')
        w.fault('status', w.path('m'), has=['is dead', 'specfs umount', 'specfs mount'])
        w.fault('which', w.path('m', 'a'), has='is dead')


def umount_clears_it_away():
    need_fuse()
    with Workplace(TREE) as w:
        at = w.path('m')
        dead_view(w, at)
        p = w.specfs('umount', at)
        equal((p.stdout, p.stderr, w.mounts()), ('', '', []), 'after umount')
        true(not os.path.lexists(at), 'the mountpoint that was made is removed')
        w.fault('umount', at, has='nothing is mounted')


def mount_recovers_it():
    need_fuse()
    with Workplace(TREE) as w:
        at = w.path('m')
        w.specfs('mount', '-q', w.root, at)
        write_file(at + '/x.o', 'written before the kill')
        kill(w.daemons()[0])
        p = w.specfs('mount', w.root, at)
        equal(p.stderr.count('\n'), 1, f'lines on stderr: {p.stderr!r}')
        true(f"recovered '{at}'" in p.stderr, f'{p.stderr!r} says so')
        equal(read_file(at + '/x.o'), b'written before the kill', 'what was in scratch')
        equal(w.mounts(), [at], 'what is mounted')
        w.specfs('umount', at)
        equal(w.mounts(), [], 'what is mounted after umount')


def somebody_inside_does_not_matter():
    need_fuse()
    with Workplace(TREE) as w:
        at = w.path('m')
        w.specfs('mount', '-q', w.root, at)
        p = subprocess.Popen(['sleep', '600'], cwd=at)
        try:
            kill(w.daemons()[0])
            w.specfs('mount', w.root, at)
            equal(read_file(at + '/a'), b'x\n', 'the new view')
        finally:
            p.kill()
            p.wait()


def from_inside_it_can_be_cleared_too():
    need_fuse()
    with Workplace(TREE) as w:
        at = w.path('m')
        w.specfs('mount', '-q', w.root, at)
        script = f'cd {at} && kill -9 {w.daemons()[0]} && exec {w.bin} umount {at}'
        p = subprocess.run(['sh', '-c', script], env=w.env, capture_output=True, text=True,
                           timeout=60, check=False)
        equal((p.returncode, p.stderr), (0, ''), 'umount from a dead working directory')
        equal(w.mounts(), [], 'what is mounted')


def a_path_through_a_dead_view_is_told():
    need_fuse()
    with Workplace(TREE) as w:
        at = w.path('m')
        dead_view(w, at)
        w.fault('mount', at + '/x', has=['lies in the mounted view', at])
        w.fault('mount', w.root, at + '/x', has='lies in the mounted view')
        w.fault('backends', '-p', at + '/x.ini', w.root, has='x.ini')


def without_a_record_it_is_recognised_too():
    need_fuse()
    with Workplace(TREE) as w:
        at = w.path('m')
        dead_view(w, at)
        other = {'XDG_CACHE_HOME': w.path('other')}
        [o] = [o for o in w.json('list', env=other) if o['mountpoint'] == at]
        equal((o['state'], o['pid'], o['backends']), ('dead', None, None), 'as listed')
        w.specfs('umount', at, env=other)
        equal(w.mounts(), [], 'what is mounted')


def a_stopped_daemon_is_not_dead():
    need_fuse()
    with Workplace(TREE) as w:
        at = w.path('m')
        pid = w.json('mount', w.root, at)['pid']
        os.kill(pid, signal.SIGSTOP)
        try:
            [o] = [o for o in w.json('list') if o['mountpoint'] == at]
            equal((o['pid'], o['state']), (pid, 'alive'), 'as listed')
            w.fault('mount', w.root, at, has='is a mounted view already')
        finally:
            os.kill(pid, signal.SIGCONT)
        w.specfs('umount', at)


def the_pid_of_another_process_is_not_believed():
    need_fuse()
    with Workplace(TREE) as w:
        at = w.path('m')
        o = w.json('mount', '-s', w.path('scr'), w.root, at)
        kill(o['pid'])
        record = read_file(w.path('scr', 'lock')).decode()
        write_file(w.path('scr', 'lock'),
                   record.replace(f'"pid": {o["pid"]}', f'"pid": {os.getpid()}'))
        [seen] = [x for x in w.json('list') if x['mountpoint'] == at]
        equal(seen['state'], 'dead', 'a live process that started at another time')
        w.specfs('umount', at)


def records_that_are_broken_do_no_harm():
    need_fuse()
    with Workplace(TREE) as w:
        at = w.path('m')
        w.specfs('mount', '-q', '-s', w.path('scr'), w.root, at)
        for text in ('', '{', '[]', '{"mountpoint": 1}', '{"mountpoint": "/", "pid": "x"}', 'null',
                     '\0\xff'):
            write_file(w.path('scr', 'lock'), text)
            [o] = [o for o in w.json('list') if o['mountpoint'] == at]
            equal((o['state'], o['pid']), ('alive', None), f'as listed with {text!r}')
        w.specfs('status', at)
        w.specfs('umount', at)
        equal(w.mounts(), [], 'what is mounted')


def one_that_cannot_die_is_cleared_away():
    """Killed while it waits for another file system: as bad as a daemon killed inside a notify."""
    need_fuse()
    with Workplace(TREE) as w:
        write_file(w.path('slow', 'sub', 'f'), 'x')
        facts = w.json('mount', w.path('slow'), w.path('s'))
        slow, waiting = facts['pid'], f'/mnt/{facts["device"]}/waiting'
        if not os.path.exists(waiting):
            raise Skip('only root can mount the control file system of FUSE')
        at = w.path('m')
        pid = w.json('mount', '-l', w.path('s', 'sub'), w.root, at)['pid']
        os.kill(slow, signal.SIGSTOP)
        user = subprocess.Popen(['stat', at + '/new-name'], stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE)
        try:
            wait_for(lambda: int(read_file(waiting)) > 0, 'the daemon waits for the slow one')
            os.kill(pid, signal.SIGKILL)
            [o] = [o for o in w.json('list') if o['mountpoint'] == at]
            equal((o['pid'], o['state']), (pid, 'dead'), 'as listed')
            # whether the kernel lets it end depends on how far its own request has got
            p = w.specfs('umount', at, ok=(0, 2))
            true(p.returncode == 0 or f'process {pid}, does not end' in p.stderr, f'{p.stderr!r}')
            true(not is_mounted(at) and not os.path.lexists(at), 'the mount is gone')
            true(user.wait(60) != 0, 'who waited in it gets an error')
            if p.returncode:
                w.fault('mount', '-l', w.path('s', 'sub'), w.root, at, has=f'process {pid}')
        finally:
            os.kill(slow, signal.SIGCONT)
            user.communicate()
        wait_for(lambda: w.daemons() == [slow], 'it ends once it is let go')


def two_dead_ones_on_top_of_each_other():
    need_fuse()
    if os.geteuid() != 0:
        return # only root can mount over a dead mount
    with Workplace(TREE) as w:
        at = w.path('m')
        dead_view(w, at)
        subprocess.run(['mount', '-t', 'tmpfs', 'none', w.path('m')], check=False)
        if len(w.mounts()) == 2:
            w.fault('mount', w.root, at, has='is in use')
            unmount(at)
        w.specfs('mount', '-q', w.root, at)


# tells how many requests wait; not where the program looks, so that it needs another way to abort
run_again_privately('mount -t fusectl none /mnt')
main(list_tells_it_quickly, umount_clears_it_away, mount_recovers_it,
     somebody_inside_does_not_matter, from_inside_it_can_be_cleared_too,
     a_path_through_a_dead_view_is_told, without_a_record_it_is_recognised_too,
     a_stopped_daemon_is_not_dead, the_pid_of_another_process_is_not_believed,
     records_that_are_broken_do_no_harm, one_that_cannot_die_is_cleared_away,
     two_dead_ones_on_top_of_each_other)
