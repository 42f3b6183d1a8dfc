# SPDX-License-Identifier: MIT
"""The helper itself: a view comes up, answers, comes up again, and leaves nothing behind."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from checks import has_namespaces  # noqa: E402
from mounted import Skip, View, equal, is_mounted, main, true  # noqa: E402

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


main(a_view_is_mounted_and_taken_down, a_background_mount_answers_when_the_command_returns,
     a_failing_test_unmounts_too, a_set_up_that_fails_says_why,
     no_other_test_can_keep_a_view_mounted)
