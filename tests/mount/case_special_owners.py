# SPDX-License-Identifier: MIT
"""Owners, groups, set-id bits, sticky directories and odd times, on every way of a write and after
a remount: what a look-up says is what the layer's own file system would say."""
import errno
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from daemontree import PLACES, SPEC, view  # noqa: E402
from mounted import Skip, equal, main, need_program, read_file, run, true  # noqa: E402
from routes import files  # noqa: E402

NOBODY = 65534
SEC = 10**9
ODD_TIMES = (-1, -5 * SEC + 7, (-2**31 + 1) * SEC + 7, 2**31 * SEC + 1, 2**32 * SEC + 5,
             7000000000 * SEC + 999999999)


def others(v):
    if os.geteuid() != 0:
        raise Skip('only root lets others in')
    need_program('setpriv')
    os.chmod(v.tmp, 0o755)


def as_user(uid, *argv, groups=''):
    more = f'--groups={groups}' if groups else '--clear-groups'
    return subprocess.run(['setpriv', f'--reuid={uid}', f'--regid={uid}', more, *argv],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)


def times_of_other_centuries():
    with view() as v:
        table, seen = files(v), {}
        os.makedirs(v.path('doc/dir'))
        os.symlink('x', v.path('doc/link'))
        names = [name for name, _ in table.values()] + ['doc/dir', 'doc/link']
        for i, name in enumerate(names):
            for ns in ODD_TIMES[i % 2:]:
                os.utime(v.path(name), ns=(ns, ns + 1), follow_symlinks=False)
                st = os.lstat(v.path(name))
                equal((st.st_atime_ns, st.st_mtime_ns), (ns, ns + 1), name)
            seen[name] = st.st_mtime_ns
        v.remount()
        for name, ns in seen.items():
            equal(os.lstat(v.path(name)).st_mtime_ns, ns, f'{name}: after a remount')
        for way, (name, real) in table.items():
            equal(os.stat(real).st_mtime_ns, seen[name], f'{way}: in the layer')


def an_old_time_is_kept_by_a_copy_up():
    old = -987654321123456789

    def plant(root):
        os.utime(f'{root}/include/t.h', ns=(old, old))

    with view(dirty=plant) as v:
        os.chmod(v.path('include/t.h'), 0o640)
        for path in (v.path('include/t.h'), f'{v.root}/{SPEC}/t.h', f'{v.root}/include/t.h'):
            equal(os.stat(path).st_mtime_ns, old, path)


def set_gid_directories_pass_on_their_group():
    with view(opts=['-o', 'allow_other']) as v:
        others(v)
        os.mkdir(v.path('build'))
        for place in PLACES:
            top = v.path(f'{place}/shared')
            os.mkdir(top)
            os.chown(top, 0, 1234)
            os.chmod(top, 0o2777)
            p = as_user(NOBODY, 'sh', '-ec', 'umask 022; cd "$1"; echo x >f; mkdir -p d/e;'
                        ' echo y >d/e/g; mkfifo p; ln -s f l; cp f h; mv h d/', 'sh', top)
            equal((p.returncode, p.stdout), (0, b''), f'{place}: as another user')
            for name in ('f', 'd', 'd/e', 'd/e/g', 'p', 'l', 'd/h'):
                st = os.lstat(os.path.join(top, name))
                equal((st.st_uid, st.st_gid), (NOBODY, 1234), f'{place}: owner of {name}')
            for name in ('d', 'd/e'):
                true(os.stat(os.path.join(top, name)).st_mode & 0o2000, f'{place}: bit of {name}')
        v.remount()
        for place in PLACES:
            st = os.stat(v.path(f'{place}/shared/d/e/g'))
            equal((st.st_uid, st.st_gid), (NOBODY, 1234), f'{place}: after a remount')


def sticky_directories_protect_names():
    with view(opts=['-o', 'allow_other']) as v:
        others(v)
        os.mkdir(v.path('build'))
        for place in PLACES:
            top = v.path(f'{place}/tmp')
            os.mkdir(top)
            os.chmod(top, 0o1777)
            equal(as_user(NOBODY, 'sh', '-c', 'echo x >"$1"/f', 'sh', top).returncode, 0, place)
            for script in ('rm -f "$1"/f', 'mv "$1"/f "$1"/g',
                           'echo y >"$1"/h && mv "$1"/h "$1"/f'):
                p = as_user(1001, 'sh', '-c', script, 'sh', top)
                true(p.returncode, f'{place}: {script} by a third user fails: {p.stdout}')
            equal(read_file(f'{top}/f'), b'x\n', f'{place}: the file')
            equal(as_user(NOBODY, 'rm', f'{top}/f').returncode, 0, f'{place}: its owner may')


def a_copy_up_keeps_the_owner_and_drops_the_bits():
    """Another user's write makes a specialization: the trunk file keeps all that it had."""
    def plant(root):
        if os.geteuid() == 0:
            os.chown(f'{root}/include/t.h', 1000, 1234)
            os.chmod(f'{root}/include/t.h', 0o6777)

    with view(opts=['-o', 'allow_other'], dirty=plant) as v:
        others(v)
        p = as_user(NOBODY, 'sh', '-c', 'echo more >>"$1"', 'sh', v.path('include/t.h'))
        equal(p.returncode, 0, f'a write by another user: {p.stdout}')
        for path in (v.path('include/t.h'), f'{v.root}/{SPEC}/t.h'):
            st = os.stat(path)
            equal((st.st_uid, st.st_gid, st.st_mode & 0o7777), (1000, 1234, 0o777), path)
        st = os.stat(f'{v.root}/include/t.h')
        equal((st.st_uid, st.st_gid, st.st_mode & 0o7777), (1000, 1234, 0o6777), 'trunk')
        equal(read_file(f'{v.root}/include/t.h'), b'trunk t\n', 'content of trunk')


def bits_go_as_on_the_layer():
    """The same calls on a file of the layer itself; what is left of 06775 must be the same."""
    calls = {
        'write': lambda p: as_user(NOBODY, 'sh', '-c', 'echo x >>"$1"', 'sh', p),
        'truncate': lambda p: as_user(NOBODY, 'truncate', '-s', '1', p),
        'fallocate': lambda p: as_user(NOBODY, 'fallocate', '-l', '9000', p),
        'chown': lambda p: os.chown(p, 5, 6),
        'chgrp': lambda p: os.chown(p, -1, 6),
        'write by root': lambda p: run(['sh', '-c', 'echo x >>"$1"', 'sh', p]),
        'utimes': lambda p: os.utime(p, (1, 1)),
    }
    need_program('fallocate', 'truncate')
    with view(opts=['-o', 'allow_other']) as v:
        others(v)
        native = os.path.join(v.tmp, 'native')
        for way, (name, _) in files(v).items():
            for mode in (0o6777, 0o2777, 0o4777):
                for what, call in calls.items():
                    left = []
                    for path in (native, v.path(name)):
                        with open(path, 'w') as f:
                            f.write('text')
                        os.chown(path, 0, 0)
                        os.chmod(path, mode)
                        call(path)
                        left.append(oct(os.stat(path).st_mode & 0o7777))
                    equal(left[1], left[0], f'{way}: left of {mode:o} after {what}')


def a_supplementary_group_counts():
    def plant(root):
        os.makedirs(f'{root}/doc/gd')
        with open(f'{root}/doc/gd/f', 'w') as f:
            f.write('x')
        if os.geteuid() == 0:
            os.chown(f'{root}/doc/gd', 0, 1234)
            os.chmod(f'{root}/doc/gd', 0o770)

    with view(opts=['-o', 'allow_other'], dirty=plant) as v:
        others(v)
        path = v.path('doc/gd')
        p = as_user(NOBODY, 'ls', path, groups='1234')
        equal((p.returncode, p.stdout), (0, b'f\n'), 'with the group')
        p = as_user(NOBODY, 'ls', path)
        true(p.returncode and os.strerror(errno.EACCES).encode() in p.stdout, f'without: {p}')


main(times_of_other_centuries, an_old_time_is_kept_by_a_copy_up,
     set_gid_directories_pass_on_their_group, sticky_directories_protect_names,
     a_copy_up_keeps_the_owner_and_drops_the_bits, bits_go_as_on_the_layer,
     a_supplementary_group_counts)
