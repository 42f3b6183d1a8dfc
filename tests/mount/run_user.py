# SPDX-License-Identifier: MIT
"""`specfs run` by an ordinary user, without any help of root; and what is said where it cannot be.

As root, the tests run the program as another user; as a user, they are that user.
"""
import ctypes
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, 'lib'))

from checks import Skip
from mounted import equal, main, read_file, true
from namespace import run_again_privately
from private import OPEN_DEVICE
from runplace import MARKER, Place

CLONE_NEWUSER = 0x10000000
ALL_IDS = b'0 0 4294967295\n'


def the_view_is_at_root_itself():
    with Place('flagtree-mini', 'mthreads', user=True) as v:
        equal(v.see('cat', MARKER).stdout, 'mthreads', 'marker')
        equal(v.see('id', '-u').stdout, v.see('stat', '-c', '%u', '.').stdout, 'who we are')
        equal(v.see('sh', '-c', 'grep CapEff /proc/self/status').stdout.split()[1].strip('0'), '',
              'rights that the command has')
        equal(v.see('sh', '-c', 'exit 7', ok=None).returncode, 7, 'status')
        v.nothing_is_left()
        true(not os.path.lexists(os.path.join(v.root, MARKER)), 'no marker in the checkout')


def writes_and_git_work():
    with Place('flagtree-mini', 'mthreads', user=True) as v:
        v.see('sh', '-ec', 'echo more >> CMakeLists.txt; mkdir -p build; echo o > build/o')
        true(read_file(os.path.join(v.root, 'CMakeLists.txt')).endswith(b'more\n'), "owner's")
        equal(v.see('git', 'status', '--porcelain', 'CMakeLists.txt').stdout,
              ' M CMakeLists.txt\n', 'git')
        equal(v.see('cat', 'build/o').stdout, 'o\n', 'scratch, in the next run')
        true(not os.path.lexists(os.path.join(v.root, 'build')), 'no build directory outside')
        v.nothing_is_left()


def who_stays_behind_keeps_the_view():
    late = f'(read x < ../fifo; cat {MARKER} > ../late) > /dev/null 2>&1 & exit 5'
    with Place('flagtree-mini', 'mthreads', user=True) as v:
        os.mkfifo(os.path.join(v.tmp, 'fifo'))
        os.chmod(os.path.join(v.tmp, 'fifo'), 0o666)
        equal(v.see('sh', '-c', late, ok=(5, ), limit_sec=60).returncode, 5, 'status')
        true(v.processes(), 'the daemon serves on')
        with open(os.path.join(v.tmp, 'fifo'), 'w') as f:
            f.write('\n')
        v.wait_until_nothing_is_left()
        equal(read_file(os.path.join(v.tmp, 'late')), b'mthreads', 'what it saw')


def what_is_there_is_redirected():
    with Place('flagtree-mini', 'mthreads', user=True) as v:
        v.see('sh', '-ec', 'mkdir build; echo 1 > build/x')
        p = v.see('sh', '-ec', 'stat -c %d . build; echo 2 > build/y; cat build/x')
        root, build, text = p.stdout.split()
        equal((root != build, text), (True, '1'), 'in the next run')
        p = v.see(v.bin, 'redirect', 'list')
        equal(p.stdout.split()[3:5], ['build', 'bind'], 'list, from inside')
        equal(v.see('ls', 'build').stdout.split(), ['x', 'y'], 'what is kept')
        v.nothing_is_left()


def a_closed_device_is_told():
    if not os.environ.get('SPECFS_TEST_PRIVATE'):
        raise Skip('only root can close it, and only where nobody else uses it')
    with Place('flagtree-mini', 'mthreads', user=True) as v:
        os.chmod('/dev/fuse', 0o600)
        try:
            v.fault('run', '-b', 'mthreads', v.root, '--', 'true', has=['/dev/fuse', 'permission'])
        finally:
            os.chmod('/dev/fuse', 0o666)
        v.nothing_is_left()


def user_namespaces_that_are_off_are_told():
    if os.geteuid() != 0:
        raise Skip('only root can switch them off')
    with Place('flagtree-mini', 'mthreads', user=True) as v:
        without_user_namespaces(
            lambda: v.fault('run', '-b', 'mthreads', v.root, '--', 'true',
                            has=['user.max_user_namespaces', 'specfs mount']))
        v.nothing_is_left()


def without_user_namespaces(call):
    """Call it in a namespace for all users in which no further one may be made."""
    entered, mapped = os.pipe(), os.pipe()
    pid = os.fork()
    if not pid:
        status = 1
        try:
            if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWUSER):
                raise OSError(ctypes.get_errno(), 'unshare')
            os.write(entered[1], b'x')
            os.read(mapped[0], 1)
            with open('/proc/sys/user/max_user_namespaces', 'w') as f:
                f.write('0')
            call()
            status = 0
        except Exception as e:
            print(e, flush=True)
        finally:
            os._exit(status)
    os.close(entered[1])
    if os.read(entered[0], 1):
        for kind in ('uid', 'gid'):
            with open(f'/proc/{pid}/{kind}_map', 'wb') as f:
                f.write(ALL_IDS)
        os.write(mapped[1], b'x')
    equal(os.waitpid(pid, 0)[1], 0, 'status of what ran without user namespaces')


run_again_privately(OPEN_DEVICE)
main(the_view_is_at_root_itself, writes_and_git_work, who_stays_behind_keeps_the_view,
     what_is_there_is_redirected, a_closed_device_is_told, user_namespaces_that_are_off_are_told)
