# SPDX-License-Identifier: MIT
"""The helper itself: a view comes up, answers, comes up again, and leaves nothing behind."""
import os
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from checks import Slow, fast, has_namespaces, measurement  # noqa: E402
from children import forget, may_forget, start, statuses, undisturbed  # noqa: E402
from mounted import (Skip, View, equal, is_mounted, main, remove_tree, true,  # noqa: E402
                     wait_for)
from namespace import PRIVATE  # noqa: E402

DIE = 'die'

TREE = {
    'a.txt': 'trunk\n',
    'third_party/b/spec_cpp/include/h.h': 'spec\n',
    'include/h.h': 'trunk\n'
}


def a_view_is_mounted_and_taken_down():
    with View(TREE, 'b', opts=['-p', 'flagtree']) as v:
        equal(v.read('a.txt'), b'trunk\n', 'a.txt')
        v.remount()
        equal(v.read('a.txt'), b'trunk\n', 'a.txt after a remount')
        mnt, tmp = v.mnt, v.tmp
    true(not is_mounted(mnt), 'nothing is mounted afterwards')
    true(not os.path.exists(tmp), 'the temporary directory is gone')


def a_background_mount_answers_when_the_command_returns():
    with View(TREE, 'b', opts=['-p', 'flagtree'], foreground=False) as v:
        equal(v.read('include/h.h'), b'spec\n', 'include/h.h')


def a_failing_test_unmounts_too():
    mnt = None
    try:
        with View(TREE, 'b', opts=['-p', 'flagtree']) as v:
            mnt = v.mnt
            raise KeyError('on purpose')
    except KeyError:
        pass
    true(mnt and not is_mounted(mnt), 'nothing is mounted after an exception')


class Broken(View):
    def _setup(self):
        raise KeyError('on purpose')


def a_set_up_that_fails_says_why():
    broken = Broken(TREE)
    try:
        with broken:
            true(False, 'not reached')
    except KeyError:
        pass
    true(not os.path.exists(broken.tmp), 'the temporary directory is gone')


def namespace_of(pid):
    return os.readlink(f'/proc/{pid}/ns/mnt')


def no_other_test_can_keep_a_view_mounted():
    """It would, in a mount namespace that it splits off from one that has the view."""
    if not has_namespaces():
        raise Skip('no mount namespace of its own')
    true(namespace_of('self') != namespace_of(os.getppid()), 'the test has one of its own')


def dies_with_a_view():
    v = View(TREE, use_git=False, foreground=False)
    v.__enter__()
    print(v.tmp, v.status()['pid'], flush=True)
    os.kill(os.getpid(), signal.SIGKILL)


def a_killed_test_leaves_no_daemon():
    if not has_namespaces():
        raise Skip('no mount namespace of its own')
    env = {k: text for k, text in os.environ.items() if k != PRIVATE}
    p = subprocess.run([sys.executable, os.path.abspath(__file__), DIE], env=env, check=False,
                       stdout=subprocess.PIPE, text=True)
    equal(p.returncode, -signal.SIGKILL, 'how it ended')
    tmp, pid = p.stdout.split()
    wait_for(lambda: not os.path.exists(f'/proc/{pid}'), 'the daemon ends')
    remove_tree(tmp)


def others_forget_nothing_while_one_counts():
    if not may_forget():
        raise Skip('it is not ours to let the kernel forget')
    with View({f'd/{i}': '' for i in range(200)}, use_git=False) as v:

        def look():
            for i in range(200):
                os.stat(v.path(f'd/{i}'))

        def asked():
            before = v.status()['requests']['lookup']
            look()
            return v.status()['requests']['lookup'] - before

        with undisturbed():
            wait_for(lambda: asked() < 20, 'the kernel knows all')
            equal(statuses([start(forget, '2', False)]), [0], 'who does not wait')
            true(asked() < 20, 'it still does')
            other = start(forget)
            true(asked() < 20, 'and while another waits')
        equal(statuses([other]), [0], 'who waited')
        wait_for(lambda: forget() or asked() > 100, 'afterwards it forgets')


def repeated(*outcomes):
    """How often a measurement runs that has these outcomes, and what it ends with."""
    left = list(outcomes)

    @measurement
    def test():
        outcome = left.pop(0)
        true(outcome != 'wrong', 'right')
        fast(outcome == 'fast', 'fast')

    try:
        test()
        end = None
    except AssertionError as e:
        end = type(e)
    return len(outcomes) - len(left), end


def only_what_is_slow_is_measured_again():
    equal(repeated('slow', 'slow', 'fast'), (3, None), 'the third time')
    equal(repeated('slow', 'slow', 'slow', 'fast'), (3, Slow), 'always slow')
    equal(repeated('wrong', 'fast'), (1, AssertionError), 'what is wrong once is a fault')


if sys.argv[1:] == [DIE]:
    main(dies_with_a_view)
main(a_view_is_mounted_and_taken_down, a_background_mount_answers_when_the_command_returns,
     a_failing_test_unmounts_too, a_set_up_that_fails_says_why,
     no_other_test_can_keep_a_view_mounted, others_forget_nothing_while_one_counts,
     only_what_is_slow_is_measured_again, a_killed_test_leaves_no_daemon)
