# SPDX-License-Identifier: MIT
"""Extended attributes and ACLs at each place: as natively, and kept by a copy-up if they can be."""
import ctypes
import errno
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from checks import Skip, need_program, run
from everyplace import everywhere, planted
from mounted import equal, fails, main, true
from native import as_natively
from private import NOBODY, as_asked, as_nobody

APART = sys.argv[1:] == ['apart']


def shell(text, at):
    """What a shell's line says, run in a directory."""
    p = run(['sh', '-c', text], cwd=at(), ok=None)
    return p.stdout if not p.returncode else p.returncode


def too_small(path):
    """Results and errors of asking with a buffer of three bytes, and of asking for the size."""
    libc, buffer = ctypes.CDLL(None, use_errno=True), ctypes.create_string_buffer(3)
    path = os.fsencode(path)
    return [libc.getxattr(path, b'user.k', buffer, 3), ctypes.get_errno(),
            libc.listxattr(path, buffer, 3), ctypes.get_errno(),
            libc.getxattr(path, b'user.k', None, 0), libc.listxattr(path, None, 0)]


def has_attributes(p):
    """Has the layer that takes the changes of @p any?"""
    return not (APART and p.name == 'mapped')


def they_work_as_natively(p):
    if APART:
        raise Skip('the plain directory is on another file system')

    def steps(at):
        for f in ('t.txt', 'both.txt', 'td', 'md', 'td/1', 'empty', 'new'):
            if f == 'new':
                yield 'new', lambda: os.close(os.open(at('new'), os.O_CREAT | os.O_WRONLY))
            path = at(f)
            yield f'{f}: none', lambda path=path: os.listxattr(path)
            yield f'{f}: absent', lambda path=path: os.getxattr(path, 'user.k')
            yield f'{f}: set', lambda path=path: os.setxattr(path, 'user.k', b'v')
            yield f'{f}: get', lambda path=path: os.getxattr(path, 'user.k')
            yield f'{f}: create', lambda path=path: os.setxattr(path, 'user.k', b'w', 1)
            yield f'{f}: replace none', lambda path=path: os.setxattr(path, 'user.l', b'w', 2)
            yield f'{f}: replace', lambda path=path: os.setxattr(path, 'user.k', b'longer', 2)
            yield f'{f}: empty', lambda path=path: os.setxattr(path, 'user.e', b'')
            yield f'{f}: list', lambda path=path: sorted(os.listxattr(path))
            yield f'{f}: as told', lambda f=f: shell(f'getfattr -d {f}', at)
            yield f'{f}: too small a buffer', lambda path=path: too_small(path)
            yield f'{f}: big', lambda path=path: os.setxattr(path, 'user.big', b'b' * 65536)
            yield f'{f}: too big', lambda path=path: os.setxattr(path, 'user.big', b'b' * 65537)
            yield f'{f}: no such kind', lambda path=path: os.setxattr(path, 'none.k', b'v')
            yield f'{f}: remove', lambda path=path: os.removexattr(path, 'user.k')
            yield f'{f}: remove again', lambda path=path: os.removexattr(path, 'user.k')
        yield 'of a symlink', lambda: os.setxattr(at('tl'), 'user.k', b'v', follow_symlinks=False)
        yield 'list of it', lambda: os.listxattr(at('tl'), follow_symlinks=False)
        yield 'through it', lambda: os.setxattr(at('tl'), 'user.k', b'v')
        yield 'of its target', lambda: os.getxattr(at('t.txt'), 'user.k')
        yield 'renamed', lambda: os.rename(at('t.txt'), at('moved'))
        yield 'of the new name', lambda: sorted(os.listxattr(at('moved')))
        yield 'a directory renamed', lambda: os.rename(at('td'), at('td2'))
        yield 'of it', lambda: sorted(os.listxattr(at('td2')))
        yield 'of a file in it', lambda: sorted(os.listxattr(at('td2/1')))
        yield 'copied', lambda: shell('cp -a moved copy; getfattr -d copy', at)

    as_natively(p, steps)


def attributes(p):
    for name in ('t.txt', 'td', 'td/1', 'md/t'):
        os.setxattr(f'{p.trunk}/{name}', 'user.k', name.encode())
    if p.upper and not APART:
        os.setxattr(f'{p.upper}/both.txt', 'user.k', b'both.txt')


@planted(attributes)
def a_copy_keeps_those_that_it_can_have(p):
    names = ['t.txt', 'td', 'td/1', 'md/t'] + (['both.txt'] if p.upper and not APART else [])
    for name in names:
        equal(os.getxattr(p(name), 'user.k'), name.encode(), f'{name}: before')
    for name in names:
        os.chmod(p(name), 0o750)
        if os.path.isfile(p(name)):
            p.write(name, 'more', 'a')
        want = ['user.k'] if has_attributes(p) else []
        equal(os.listxattr(p(name)), want, f'{name}: afterwards')
        if want:
            equal(os.getxattr(p(name), 'user.k'), name.encode(), f'{name}: its value')
        equal(run(['getfattr', '-d', name], cwd=p()).returncode, 0, f'{name}: getfattr')
    os.rename(p('td/1'), p('moved'))
    os.rename(p('td'), p('td2'))
    equal([os.listxattr(p(n)) for n in ('moved', 'td2')],
          [['user.k'] if has_attributes(p) else []] * 2, 'renamed')


def acls(p):
    if subprocess.run(['setfacl', '-m', f'u:{NOBODY}:rw', f'{p.trunk}/t.txt'],
                      stderr=subprocess.DEVNULL, check=False).returncode:
        return
    run(['setfacl', '-m', f'u:{NOBODY}:rwx', p.trunk, f'{p.trunk}/td'])
    run(['setfacl', '-d', '-m', f'u:{NOBODY}:rwx,o::-', f'{p.trunk}/td'])
    run(['setfacl', '-m', f'u:{NOBODY}:r', f'{p.trunk}/td/1'])
    os.chmod(f'{p.trunk}/td/2', 0o644)


def acl(path):
    return run(['getfacl', '-cnp', path]).stdout


@planted(acls)
def an_acl_counts_and_is_kept(p):
    if 'user:' + str(NOBODY) not in acl(f'{p.trunk}/t.txt') or APART:
        raise Skip('the file system has no ACLs')
    os.chmod(p.v.tmp, 0o755)
    want = {name: acl(f'{p.trunk}/{name}') for name in ('t.txt', 'td', 'td/1', 'td/2')}
    equal({name: acl(p(name)) for name in want}, want, 'before')

    def by_nobody():
        os.utime(p('t.txt'))
        p.write('t.txt', 'by nobody\n', 'a')
        fails(errno.EACCES, p.write, 'td/1', 'x', 'a')
        fails(errno.EACCES, p.write, 'td/2', 'x', 'a')
        p.write('td/new', 'new')

    if os.geteuid() == 0:
        as_nobody(by_nobody)
        equal(p.read('t.txt'), b'trunk t\nby nobody\n', 'written by whom the ACL allows it')
        true(f'user:{NOBODY}:rwx' in acl(p('td/new')), f'inherited: {acl(p("td/new"))}')
        equal(os.stat(p('td/new')).st_mode & 0o007, 0, 'others, by the default ACL')
    p.write('td/1', 'more', 'a')
    p.write('td/own', 'own')
    true('other::---' in acl(p('td/own')), f'inherited: {acl(p("td/own"))}')
    equal({name: acl(p(name)) for name in want}, want, 'afterwards')
    os.rename(p('td'), p('td2'))
    equal(acl(p('td2')), want['td'], 'renamed')
    run(['setfacl', '-b', p('t.txt')])
    true('user:' + str(NOBODY) not in acl(p('t.txt')), 'taken away')


def capabilities(p):
    os.chmod(f'{p.trunk}/td/1', 0o777)
    os.chmod(f'{p.trunk}/td/2', 0o777)
    for name in ('td/1', 'td/2'):
        subprocess.run(['setcap', 'cap_net_raw+ep', f'{p.trunk}/{name}'],
                       stderr=subprocess.DEVNULL, check=False)


@planted(capabilities)
def a_capability_goes_with_the_first_write(p):
    if os.geteuid() != 0 or 'security.capability' not in os.listxattr(f'{p.trunk}/td/1'):
        raise Skip('capabilities cannot be set here')
    os.chmod(p.v.tmp, 0o755)
    as_nobody(lambda: p.write('td/1', 'x', 'a'))
    p.write('td/2', 'x', 'a')
    for name in ('td/1', 'td/2'):
        fails(errno.ENODATA if has_attributes(p) else errno.EOPNOTSUPP, os.getxattr, p(name),
              'security.capability')


def another_users_file_can_be_read(p):
    """With or without ACLs in the layer, modes are modes."""
    if os.geteuid() != 0:
        raise Skip('only root has files of two users')
    os.chmod(p.v.tmp, 0o755)

    def look():
        for name in ('t.txt', 'both.txt', 'td/1', 'md/both'):
            with open(p(name), 'rb') as f:
                true(f.read(), name)
            fails(errno.EACCES, open, p(name), 'r+')

    as_nobody(look)
    run(['cp', '-a', p('td'), p('md'), p('empty')])
    equal(p.names('empty/td'), ['1', '2', '3', 'sub'], 'copied by cp -a')


need_program('getfattr', 'setfacl', 'getfacl')
as_asked()
main(*everywhere(they_work_as_natively, a_copy_keeps_those_that_it_can_have,
                 an_acl_counts_and_is_kept, a_capability_goes_with_the_first_write,
                 another_users_file_can_be_read,
                 opts=['-o', 'allow_other'] if os.geteuid() == 0 else []))
