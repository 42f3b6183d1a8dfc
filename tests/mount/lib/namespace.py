# SPDX-License-Identifier: MIT
"""A mount namespace for a test alone: no other test keeps its views mounted, nor it theirs."""
import os
import sys

from checks import has_namespaces, run, true

PRIVATE = 'SPECFS_TEST_PRIVATE'
# at once, as long as it has them nobody is done who unmounts one; drop_views() looks again
DROP_VIEWS = 'umount -l -a -t fuse.specfs 2> /dev/null || :\n'


def unescape(text):
    """A path as /proc/self/mountinfo writes it."""
    return text.encode('utf-8', 'surrogateescape').decode('unicode_escape').encode(
        'latin-1').decode('utf-8', 'surrogateescape')


def run_again_privately(setup=':'):
    """Root only: run this test again in a mount namespace of its own, after shell text @setup.

    Returns where that cannot be had, and in the second run.  The namespace is without the views of
    other tests, which it would keep mounted when they end.
    """
    if os.environ.get(PRIVATE):
        drop_views()
    elif has_namespaces():
        sys.stdout.flush()
        script = DROP_VIEWS + setup + '\nexec "$0" -B "$@"'
        os.execvpe('unshare', ['unshare', '-m', 'sh', '-ec', script, sys.executable, *sys.argv],
                   {**os.environ, PRIVATE: '1'})


def views():
    """Mountpoints of the views that are mounted in this namespace."""
    with open('/proc/self/mountinfo', encoding='utf-8', errors='surrogateescape') as f:
        return [unescape(line.split(' ')[4]) for line in f if ' - fuse.specfs ' in line]


def drop_views():
    """Unmount, in this namespace, every view that came with it."""
    for view in reversed(views()):
        p = run(['umount', '-l', view], ok=None)
        # it goes by itself when its mountpoint is removed elsewhere
        true(p.returncode == 0 or view not in views(), f'{view} is unmounted: {p.stderr}')
