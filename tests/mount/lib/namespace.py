# SPDX-License-Identifier: MIT
"""A mount namespace for a test alone: no other test keeps its views mounted, nor it theirs."""
import os
import select
import sys
import time

from checks import has_namespaces, run, true

PRIVATE = 'SPECFS_TEST_PRIVATE'
WATCHED = 'watched'
GIVE_UP_SEC = 60
# at once, as long as it has them nobody is done who unmounts one; drop_views() looks again
DROP_VIEWS = 'umount -l -a -t fuse.specfs 2> /dev/null || :\n'


def unescape(text):
    """A path as /proc/self/mountinfo writes it."""
    return text.encode('utf-8', 'surrogateescape').decode('unicode_escape').encode(
        'latin-1').decode('utf-8', 'surrogateescape')


def run_again_privately(setup=':'):
    """Root only: run this test again in a mount namespace of its own, after shell text @setup.

    Returns where that cannot be had, and in the second run.  The namespace is without the views of
    other tests, which it would keep mounted when they end.  Nobody else sees those of this test:
    they are unmounted, and so their daemons end, when it is killed.
    """
    if os.environ.get(PRIVATE):
        drop_views()
        if os.environ[PRIVATE] != WATCHED:
            os.environ[PRIVATE] = WATCHED
            watch_over_views()
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


def watch_over_views():
    """Start a process, no child of this one, that clears up after it in this namespace."""
    test = os.pidfd_open(os.getpid())
    pid = os.fork()
    if pid:
        os.waitpid(pid, 0)
        os.close(test)
        return
    try:
        os.setsid()  # a test runner ends all of the test's session
        if not os.fork():
            _clear_up_after(test)
    finally:
        os._exit(0)


def _clear_up_after(test):
    os.chdir('/')
    null = os.open(os.devnull, os.O_RDWR)
    for fd in range(3):
        os.dup2(null, fd)  # who reads what the test says waits for its end
    select.select([test], [], [])
    until = time.monotonic() + GIVE_UP_SEC
    while True:
        drop_views()
        # what was about to mount one may do so yet
        if not _is_anybody_here() or time.monotonic() > until:
            return
        time.sleep(0.1)


def _is_anybody_here():
    """Is any other process in this mount namespace?"""
    here = os.readlink('/proc/self/ns/mnt')
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            if int(pid) != os.getpid() and os.readlink(f'/proc/{pid}/ns/mnt') == here:
                return True
        except OSError:
            pass  # it has just ended
    return False
