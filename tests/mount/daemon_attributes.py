# SPDX-License-Identifier: MIT
"""Extended attributes, ACLs, modes and owners through the mount; specfs's own marks stay hidden."""
import errno
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from daemontree import PLACES, SPEC, view  # noqa: E402
from mounted import Skip, equal, fails, main, need_program, run, true  # noqa: E402


def user_attributes_are_kept():
    with view() as v:
        os.mkdir(v.path('build'))
        for place in PLACES:
            v.write(f'{place}/f', 'x')
            path = v.path(f'{place}/f')
            os.setxattr(path, 'user.one', b'1')
            os.setxattr(path, 'user.two', b'2' * 1000)
            equal(os.getxattr(path, 'user.one'), b'1', f'{place}: value')
            equal(sorted(os.listxattr(path)), ['user.one', 'user.two'], f'{place}: names')
            fails(errno.EEXIST, os.setxattr, path, 'user.one', b'3', os.XATTR_CREATE)
            os.removexattr(path, 'user.one')
            fails(errno.ENODATA, os.getxattr, path, 'user.one')
            fails(errno.ENODATA, os.removexattr, path, 'user.one')


def a_copy_up_takes_attributes_along():
    with view(dirty=lambda root: os.setxattr(f'{root}/include/t.h', 'user.k', b'v')) as v:
        with open(v.path('include/t.h'), 'a') as f:
            f.write('more\n')
        equal(os.getxattr(v.path('include/t.h'), 'user.k'), b'v', 'in the view')
        equal(os.getxattr(f'{v.root}/{SPEC}/t.h', 'user.k'), b'v', 'in the layer')


def marks_are_neither_seen_nor_set():
    with view() as v:
        os.unlink(v.path('include/t.h'))
        os.mkdir(v.path('build'))
        v.write('build/f', 'x')
        for name in ('user.specfs.whiteout', 'user.specfs.opaque', 'user.specfs.anything'):
            fails(errno.EPERM, os.setxattr, v.path('build/f'), name, b'1')
            fails(errno.EPERM, os.removexattr, v.path('build/f'), name)
            fails(errno.ENODATA, os.getxattr, v.path('build/f'), name)
        for base, dirs, files in os.walk(v.mnt):
            for name in dirs + files:
                path = os.path.join(base, name)
                equal([a for a in os.listxattr(path, follow_symlinks=False) if 'specfs' in a], [],
                      path)


def the_origin_is_told():
    with view() as v:
        for path, want in (('doc/t.txt', f'trunk {v.root}/doc/t.txt'),
                           ('include/t.h', f'trunk {v.root}/include/t.h')):
            equal(v.origin(path), want, path)
        true(v.origin('include/s.h').endswith(f' {v.root}/{SPEC}/s.h'), v.origin('include/s.h'))
        os.mkdir(v.path('build'))
        v.write('build/f', 'x')
        equal(v.origin('build/f'), f'scratch {v.scratch}/upper/build/f', 'build/f')


def modes_are_exact():
    with view() as v:
        os.mkdir(v.path('build'))
        old = os.umask(0)
        try:
            for place in PLACES:
                for mode in (0o000, 0o444, 0o555, 0o777, 0o1777, 0o2775):
                    os.mkdir(v.path(f'{place}/d'), mode)
                    os.chmod(v.path(f'{place}/d'), mode)
                    equal(
                        os.stat(v.path(f'{place}/d')).st_mode & 0o7777, mode, f'{place}: directory')
                    if os.geteuid() != 0:
                        os.chmod(v.path(f'{place}/d'), 0o700)  # a user's daemon has to read it
                    os.rmdir(v.path(f'{place}/d'))
                    os.close(os.open(v.path(f'{place}/f'), os.O_CREAT | os.O_WRONLY, mode & 0o777))
                    equal(
                        os.stat(v.path(f'{place}/f')).st_mode & 0o7777, mode & 0o777,
                        f'{place}: file')
                    os.unlink(v.path(f'{place}/f'))
            os.umask(0o027)
            v.write('build/masked', 'x')
            equal(os.stat(v.path('build/masked')).st_mode & 0o777, 0o640, 'with a umask')
        finally:
            os.umask(old)


def times_are_exact():
    with view() as v:
        os.mkdir(v.path('build'))
        for place in PLACES:
            v.write(f'{place}/f', 'x')
            for ns in (0, 1, -1500000000, 1234567890123456789, 5000000000123456789):
                os.utime(v.path(f'{place}/f'), ns=(ns, ns))
                equal(os.stat(v.path(f'{place}/f')).st_mtime_ns, ns, f'{place}: mtime')
        before = os.stat(v.path('include/both.h')).st_mtime_ns
        os.chmod(v.path('include/both.h'), 0o600)
        equal(os.stat(v.path('include/both.h')).st_mtime_ns, before, 'mtime after chmod')


def as_nobody(*argv):
    return subprocess.run(['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] +
                          list(argv),
                          stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)


def need_others(v):
    if os.geteuid() != 0:
        raise Skip('only root lets others in')
    need_program('setpriv')
    if as_nobody('test', '-x', os.path.dirname(v.mnt)).returncode:
        os.chmod(os.path.dirname(v.mnt), 0o755)


def other_users_own_what_they_make():
    if os.geteuid() != 0:
        raise Skip('only root lets others in')
    with view(opts=['-o', 'allow_other']) as v:
        need_others(v)
        for place in PLACES:
            os.makedirs(v.path(f'{place}/open'), exist_ok=True)
            os.chmod(v.path(f'{place}/open'), 0o1777)
            p = as_nobody('sh', '-c',
                          'umask 022; cd "$1" && echo x >f && mkdir d && ln -s f l && mkfifo p',
                          'sh', v.path(f'{place}/open'))
            equal(p.returncode, 0, f'{place}: {p.stdout}')
            for name in 'fdlp':
                st = os.lstat(v.path(f'{place}/open/{name}'))
                equal((st.st_uid, st.st_gid), (65534, 65534), f'{place}/{name}: owner')
        equal(
            as_nobody('sh', '-c', 'echo x >>"$1"', 'sh', v.path('doc/t.txt')).returncode != 0, True,
            "others may not write to root's file")


def set_id_bits_go_when_others_write():
    if os.geteuid() != 0:
        raise Skip('only root lets others in')
    with view(opts=['-o', 'allow_other']) as v:
        need_others(v)
        os.mkdir(v.path('build'))
        for place in PLACES:
            v.write(f'{place}/f', 'text')
            path = v.path(f'{place}/f')
            for what in ('echo x >>"$1"', ': >"$1"', 'truncate -s 2 "$1"'):
                os.chmod(path, 0o6777)
                equal(os.stat(path).st_mode & 0o7777, 0o6777, f'{place}: set')
                equal(as_nobody('sh', '-c', what, 'sh', path).returncode, 0, f'{place}: {what}')
                equal(os.stat(path).st_mode & 0o7777, 0o777, f'{place}: after {what}')


def capabilities_are_kept_and_go_with_a_write():
    need_program('setcap', 'getcap')
    if os.geteuid() != 0:
        raise Skip('only root sets capabilities')
    with view() as v:
        os.mkdir(v.path('build'))
        for place in PLACES:
            path = v.path(f'{place}/program')
            v.write(f'{place}/program', 'x')
            os.chmod(path, 0o755)
            if subprocess.run(['setcap', 'cap_net_raw+ep', path],
                              stderr=subprocess.PIPE).returncode:
                raise Skip('capabilities cannot be set here')
            true(os.getxattr(path, 'security.capability'), f'{place}: capability')
            with open(path, 'a') as f:
                f.write('more')
            fails(errno.ENODATA, os.getxattr, path, 'security.capability')
            # what nobody can execute has one all the same, and comes to have the right
            os.chmod(path, 0o644)
            run(['setcap', 'cap_net_raw+ep', path])
            true(os.getxattr(path, 'security.capability'), f'{place}: without execution')
            with open(path, 'a') as f:
                f.write('more')
            fails(errno.ENODATA, os.getxattr, path, 'security.capability')


def acls_count():
    need_program('setfacl', 'getfacl')
    if os.geteuid() != 0:
        raise Skip('only root lets others in')
    with view(opts=['-o', 'allow_other']) as v:
        need_others(v)
        try:
            subprocess.run(['setfacl', '-m', 'u:65534:rw', f'{v.root}/doc/t.txt'],
                           check=True,
                           stderr=subprocess.PIPE)
        except subprocess.CalledProcessError:
            raise Skip('the file system has no ACLs') from None
        os.chmod(f'{v.root}/doc', 0o755)
        p = as_nobody('sh', '-c', 'echo by nobody >>"$1"', 'sh', v.path('doc/t.txt'))
        equal(p.returncode, 0, f'allowed by the ACL: {p.stdout}')
        shown = subprocess.run(['getfacl', '-cnp', v.path('doc/t.txt')],
                               check=True,
                               stdout=subprocess.PIPE).stdout
        true(b'user:65534:rw-' in shown, f'getfacl: {shown}')
        os.mkdir(v.path('build'))
        for place in PLACES:
            os.mkdir(v.path(f'{place}/d'))
            subprocess.run(['setfacl', '-d', '-m', 'u:65534:rwx,o::-',
                            v.path(f'{place}/d')],
                           check=True)
            old = os.umask(0o077)
            v.write(f'{place}/d/f', 'x')
            os.umask(old)
            shown = subprocess.run(['getfacl', '-cnp', v.path(f'{place}/d/f')],
                                   check=True,
                                   stdout=subprocess.PIPE).stdout
            true(b'user:65534:rwx' in shown and b'other::---' in shown,
                 f'{place}: inherited: {shown}')


def read_only_views_refuse():
    with view(opts=['-r']) as v:
        for call, args in ((os.mkdir, ('doc/d', )), (os.unlink, ('doc/t.txt', )),
                           (os.chmod, ('doc/t.txt', 0o600)), (os.truncate, ('doc/t.txt', 0)),
                           (os.rename, ('doc/t.txt', 'doc/x'))):
            full = [v.path(a) if isinstance(a, str) else a for a in args]
            fails(errno.EROFS, call, *full)


def git_is_read_only_and_readable():
    with view() as v:
        fails(errno.EROFS, v.write, '.git/x', 'x')
        fails(errno.EROFS, os.unlink, v.path('.git/HEAD'))
        true("creation of '.git/x' refused: " in v.log(), f'the log names the rule: {v.log()}')
        equal(v.log().count('refused'), 1, 'lines for two refusals at once')
        true(v.read('.git/HEAD').startswith(b'ref: '), 'HEAD')
        shutil.copytree(v.path('.git'), v.path('build/copy'), symlinks=True)


def the_root_changes_in_scratch_alone():
    """The first change copies it; no layer below hears of it."""
    changes = (
        (lambda at: os.chmod(at, 0o711), lambda at: oct(os.stat(at).st_mode), '0o40711'),
        (lambda at: os.utime(at, ns=(5, 2**61)), lambda at: os.stat(at).st_mtime_ns, 2**61),
        (lambda at: os.setxattr(at, 'user.r', b'1'), lambda at: os.getxattr(at, 'user.r'), b'1'),
    )
    for change, look, want in changes:
        for lay in False, True:
            with view(opts=['--scratch-all'], mount=False) as v:
                over = os.path.join(v.tmp, 'over')
                os.mkdir(over)
                v.opts += ['-l', over] if lay else []
                v.mount()
                layers = [v.root, over]
                before = [(os.stat(x).st_ctime_ns, os.listxattr(x)) for x in layers]
                change(v.mnt)
                equal([(os.stat(x).st_ctime_ns, os.listxattr(x)) for x in layers], before,
                      'the layers are as they were')
                equal(look(v.mnt), want, 'in the mount')
                v.remount()
                equal(look(v.mnt), want, 'in the next mount')


main(user_attributes_are_kept, a_copy_up_takes_attributes_along, marks_are_neither_seen_nor_set,
     the_origin_is_told, modes_are_exact, times_are_exact, other_users_own_what_they_make,
     set_id_bits_go_when_others_write, acls_count, capabilities_are_kept_and_go_with_a_write,
     read_only_views_refuse, git_is_read_only_and_readable, the_root_changes_in_scratch_alone)
