# SPDX-License-Identifier: MIT
"""A user's view of a checkout that belongs to somebody else: what may be changed, what may not.

Nothing in between: what is refused leaves no trace, and what is not changes what it should.
"""
import errno
import os
import stat
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from checks import Skip, git, need_program, read_file, run
from everyplace import SPEC, facts
from mounted import TempDir, equal, fails, main, true
from namespace import run_again_privately
from private import NOBODY, OPEN_DEVICE, UserView, as_nobody

TREE = {
    '.gitignore': '/ignored/\n',
    'doc/t': 'trunk\n',
    'doc/open': 'trunk\n',
    'ignored/t': 'ignored\n',
    'ignored/open': 'ignored\n',
    'include/t': 'trunk\n',
    'include/t2': 'trunk\n',
    'include/open': 'trunk\n',
    'include/d/t': 'trunk\n',
    'include/secret': 'nobody must see this\n',
    SPEC + '/s': 'spec\n',
}


def owners(root):
    """The trunk is root's, the backend's directory the user's."""
    for name in ('doc', 'ignored', 'include'):
        os.chmod(f'{root}/{name}/open', 0o666)
    os.chmod(f'{root}/include/secret', 0o600)
    for base, dirs, files in os.walk(f'{root}/third_party'):
        for name in [base] + [os.path.join(base, n) for n in dirs + files]:
            os.chown(name, NOBODY, NOBODY)


def need_two_users():
    if os.geteuid() != 0 or not os.environ.get('SPECFS_TEST_PRIVATE'):
        raise Skip('needs files of two users, and a /dev/fuse that both may open')


def view():
    need_two_users()
    return UserView(TREE, 'b', opts=['-p', 'flagtree'], dirty=owners)


def write(path):
    with open(path, 'a') as f:
        f.write('more\n')


def what_is_not_ones_own_is_refused():
    with view() as v:
        before = facts(v.root)

        def refused():
            for name in ('doc/t', 'ignored/t', 'include/t'):
                path = v.path(name)
                fails(errno.EACCES, write, path)
                fails(errno.EACCES, open, path, 'r+')
                fails(errno.EACCES, os.truncate, path, 0)
                fails(errno.EPERM, os.chmod, path, 0o666)
                fails(errno.EPERM, os.chown, path, NOBODY, NOBODY)
                fails(errno.EPERM, os.utime, path, (5, 5))
                fails(errno.EACCES, os.utime, path)
                fails(errno.EACCES, os.setxattr, path, 'user.k', b'v')
                equal(read_file(path), b'ignored\n' if name[0] == 'i' and name[1] == 'g'
                      else b'trunk\n', f'{name} as before')
            for name in ('doc', 'ignored'):
                fails(errno.EACCES, os.unlink, v.path(f'{name}/t'))
                fails(errno.EACCES, os.rename, v.path(f'{name}/t'), v.path(f'{name}/t2'))
                fails(errno.EACCES, write, v.path(f'{name}/new'))
                fails(errno.EACCES, os.mkdir, v.path(f'{name}/new'))
                fails(errno.EACCES, os.symlink, 'x', v.path(f'{name}/new'))
            fails(errno.EACCES, os.unlink, v.path('include/d/t'))
            fails(errno.EACCES, open, v.path('include/secret'))

        as_nobody(refused)
        equal(facts(v.root), before, 'the checkout')
        equal(sum(len(files) for _, _, files in os.walk(f'{v.scratch}/upper')), 0,
              'files of scratch')


def what_modes_allow_goes_where_it_should():
    with view() as v:
        trunk = facts(f'{v.root}/include')
        ignored = facts(f'{v.root}/ignored')

        def allowed():
            for name in ('doc/open', 'ignored/open', 'include/open'):
                write(v.path(name))
                equal(read_file(v.path(name)).split(b'\n')[1], b'more', name)
            # the merged directory is the backend's, and so the user's
            os.unlink(v.path('include/t'))
            os.rename(v.path('include/t2'), v.path('include/t3'))
            equal(sorted(os.listdir(v.path('include'))), ['d', 'open', 's', 'secret', 't3'],
                  'names')
            write(v.path('include/new'))
            fails(errno.EACCES, os.rename, v.path('include/secret'), v.path('include/known'))
            true(os.path.lexists(v.path('include/secret')), 'what cannot be copied stays')

        as_nobody(allowed)
        equal(facts(f'{v.root}/include'), trunk, "trunk's files of a mapped place")
        equal(facts(f'{v.root}/ignored'), ignored, 'what git ignores')
        equal(read_file(f'{v.root}/doc/open'), b'trunk\nmore\n', 'changed in place')
        st = os.stat(f'{v.root}/{SPEC}/open')
        equal((st.st_uid, stat.S_IMODE(st.st_mode)), (NOBODY, 0o666), 'the specialization')
        v.remount()
        as_nobody(lambda: equal(sorted(os.listdir(v.path('include'))),
                                ['d', 'new', 'open', 's', 'secret', 't3'], 'after a remount'))


def the_roots_owner_is_the_checkouts():
    """git refuses what belongs to another."""
    need_program('git')
    with view() as v:
        def look():
            for name in ('', '.git', 'doc', 'doc/t'):
                equal(os.stat(v.path(name)).st_uid, 0, f'owner of {name!r}')
            p = run(['git', '-C', v.mnt, '-c', 'safe.directory=', 'status'], ok=None)
            true(p.returncode == 128 and 'dubious ownership' in p.stderr, f'git: {p.stderr}')
            git(v.mnt, 'log', '--oneline')

        as_nobody(look)


def ones_own_checkout_is_trusted_by_git():
    need_program('git')

    def own(root):
        for base, dirs, files in os.walk(root):
            for name in [base] + [os.path.join(base, n) for n in dirs + files]:
                os.lchown(name, NOBODY, NOBODY)

    with view() as other:
        other.umount()
    need_two_users()
    with UserView(TREE, 'b', opts=['-p', 'flagtree'], dirty=own) as v:

        def look():
            equal([os.stat(v.path(n)).st_uid for n in ('', '.git')], [NOBODY] * 2, 'owner')
            run(['git', '-C', v.mnt, '-c', 'safe.directory=', 'status'])

        as_nobody(look)


def a_closed_home_is_no_hindrance():
    """`sudo -u` may leave HOME as it was."""
    need_two_users()
    with TempDir() as home:
        os.chmod(home, 0o700)
        with UserView(TREE, 'b', opts=['-p', 'flagtree'], env={'HOME': home}) as v:
            as_nobody(lambda: equal(read_file(v.path('doc/t')), b'trunk\n', 'a file'))


def a_repository_that_cannot_be_read_is_told():
    need_two_users()
    with UserView(TREE, 'b', opts=['-p', 'flagtree'], mount=False,
                  dirty=lambda root: os.chmod(f'{root}/.git/index', 0)) as v:
        p = run(v.mount_argv(), env=v.env, ok=(2, ))
        equal(p.stderr.count('\n'), 1, f'lines of {p.stderr!r}')
        true(f"the git repository of '{v.root}' can't be read: " in p.stderr
             and 'index' in p.stderr, f'{p.stderr!r} says what, and why')


run_again_privately(OPEN_DEVICE)
main(a_closed_home_is_no_hindrance, a_repository_that_cannot_be_read_is_told,
     what_is_not_ones_own_is_refused, what_modes_allow_goes_where_it_should,
     the_roots_owner_is_the_checkouts, ones_own_checkout_is_trusted_by_git)
