# SPDX-License-Identifier: MIT
"""The tests of open files, data, maps, locks and special files once more, with a daemon that has no
rights beyond those of an ordinary user: nothing it can't open again may get lost.

As root, the tests are run as another user; as a user there is nothing to add to the other tests.
"""
import os
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, 'lib'), os.path.join(HERE, '..', 'cli', 'lib')]

from checks import Skip, need_program, run
from mounted import SKIP, TREES, TempDir, binary, equal, main
from workplace import run_again_privately

AS_USER = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']


def python_for_users():
    for python in (sys.executable, '/usr/bin/python3'):
        if os.path.exists(python) and run(AS_USER + [python, '-c', ''], ok=None).returncode == 0:
            return python
    raise Skip('an ordinary user may not run any Python here')


def copies(tmp):
    """The program and the tests, where everybody may read them; the environment for them."""
    shutil.copy(binary(), os.path.join(tmp, 'specfs'))
    junk = shutil.ignore_patterns('__pycache__')
    for name, source in (('mount', HERE), ('trees', TREES),
                         ('config', os.path.join(HERE, '..', '..', 'config'))):
        shutil.copytree(source, os.path.join(tmp, name), symlinks=True, ignore=junk)
    os.mkdir(os.path.join(tmp, 'tmp'))
    os.chmod(os.path.join(tmp, 'tmp'), 0o1777)
    run(['chmod', '-R', 'a+rX', tmp])
    return dict(os.environ,
                HOME=os.path.join(tmp, 'tmp'),
                SPECFS_BIN=os.path.join(tmp, 'specfs'),
                SPECFS_TREES=os.path.join(tmp, 'trees'),
                SPECFS_PROFILE_DIR=os.path.join(tmp, 'config'),
                SPECFS_TEST_TMP=os.path.join(tmp, 'tmp'),
                PYTHONPATH=os.path.join(tmp, 'mount', 'lib'))


def as_user(name):

    def test():
        if os.geteuid() != 0:
            raise Skip('the test itself is run as this user')
        if not os.environ.get('SPECFS_TEST_PRIVATE'):
            raise Skip('needs a mount namespace of its own')
        need_program('setpriv', 'fusermount3')
        python = python_for_users()
        with TempDir() as tmp:
            env = copies(tmp)
            p = run(AS_USER + [python, '-B', os.path.join(tmp, 'mount', f'{name}.py')],
                    cwd=os.path.join(tmp, 'tmp'), env=env, ok=(0, SKIP), limit_sec=280)
            print(''.join(f'      {line}\n' for line in p.stdout.splitlines()), end='')
            equal(p.returncode, 0, f'{name} as an ordinary user; it said {p.stdout}')

    test.__name__ = f'{name} as an ordinary user'
    return test


# a device that others may open, as it is on most machines
run_again_privately('mount -t tmpfs none /mnt && mknod -m 666 /mnt/fuse c 10 229 &&'
                    ' mount --bind /mnt/fuse /dev/fuse')
main(*map(as_user, ('daemon_open_files', 'daemon_data', 'case_special_opens',
                    'case_special_types', 'case_mmap_shared', 'case_mmap_space')))
