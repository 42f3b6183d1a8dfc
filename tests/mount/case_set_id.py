# SPDX-License-Identifier: MIT
"""Set-id bits that a change takes away: what is asked for alone, the mode, is told at once."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from daemontree import view  # noqa: E402
from mounted import Skip, equal, main, need_program, write_file  # noqa: E402
from routes import files  # noqa: E402

NOBODY, GROUP = 65534, 1234


def as_user(*argv):
    subprocess.run(['setpriv', f'--reuid={NOBODY}', f'--regid={NOBODY}', '--clear-groups', *argv],
                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True)


def mode_alone(path):
    """stat(1) asks for no more than it prints, and the kernel may know that already."""
    return subprocess.run(['stat', '-c', '%a', path], stdout=subprocess.PIPE,
                          check=True).stdout.strip()


def compare(mode, owner, call):
    if os.geteuid() != 0:
        raise Skip('only root lets others in')
    need_program('setpriv', 'stat')
    with view(opts=['-o', 'allow_other']) as v:
        os.chmod(v.tmp, 0o755)
        for i, (way, (name, _)) in enumerate(files(v).items()):
            native, left = os.path.join(v.tmp, f'native-{i}'), []
            for path in (native, v.path(name)):
                write_file(path, b'text')
                os.chown(path, *owner)
                os.chmod(path, mode)
                mode_alone(path)
                call(path)
                left.append(mode_alone(path))
            equal(left[1], left[0], f'{way}: left of {mode:o}')


def direct_write(path):
    as_user('dd', 'if=/dev/zero', f'of={path}', 'bs=4k', 'count=1', 'oflag=direct', 'conv=notrunc')


def written_past_the_cache():
    need_program('dd')
    for mode in (0o6666, 0o6676, 0o4777):
        compare(mode, (0, 0), direct_write)


def written():
    compare(0o6777, (0, 0), lambda path: as_user('sh', '-c', 'echo x >>"$1"', 'sh', path))


def an_acl_by_who_is_not_of_the_group():
    need_program('setfacl')
    compare(0o2755, (NOBODY, GROUP), lambda path: as_user('setfacl', '-m', 'u:5:r', path))


def an_acl_by_who_is_of_the_group():
    need_program('setfacl')
    compare(0o2755, (NOBODY, NOBODY), lambda path: as_user('setfacl', '-m', 'u:5:r', path))


main(written_past_the_cache, written, an_acl_by_who_is_not_of_the_group,
     an_acl_by_who_is_of_the_group)
