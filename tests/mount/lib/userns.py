# SPDX-License-Identifier: MIT
"""Run a whole test in a user and mount namespace of its own.

There root has the limits of an ordinary user: the kernel's queue of changes is bounded, and so is
the number of directories that may be watched, by what the test sets (`set_limit`).
"""
import os
import shutil
import subprocess
import sys

from checks import Skip
from namespace import run_again_privately

INSIDE = 'SPECFS_TEST_USERNS'


def enter():
    """Start this program again in a namespace of its own, unless it is in there already.

    Returns a text that says why not if that cannot be had.  Where it can be, other tests' views are
    left out: in a user's namespace they could not be let go of, and would outlive their end.
    """
    if os.environ.get(INSIDE):
        return None
    run_again_privately()
    if not shutil.which('unshare'):
        return 'unshare is not installed'
    argv = ['unshare', '--user', '--map-root-user', '--mount']
    if subprocess.run(argv + ['test', '-w', '/dev/fuse'], stderr=subprocess.DEVNULL,
                      check=False).returncode:
        return 'no user namespace in which /dev/fuse can be used'
    os.execvpe(argv[0], argv + [sys.executable] + sys.argv, dict(os.environ, **{INSIDE: '1'}))


def set_limit(name, value):
    """Set one of /proc/sys/user, for this namespace alone."""
    try:
        with open(f'/proc/sys/user/{name}', 'w', encoding='ascii') as f:
            f.write(str(value))
    except OSError as e:
        raise Skip(f'/proc/sys/user/{name} cannot be set: {e.strerror}') from None
