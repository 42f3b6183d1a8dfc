# SPDX-License-Identifier: MIT
"""An ordinary user: mounts, is told what needs root, and clears away a dead mount too.

As root, the tests run the program as another user; as a user, they are that user.
"""
import os
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, 'lib'), os.path.join(HERE, '..', 'mount', 'lib')]

from checks import Skip, need_namespace, need_program, read_file, run, wait_for
from mounted import equal, is_mounted, main, need_fuse, true
from namespace import run_again_privately
from private import NOBODY, OPEN_DEVICE
from workplace import Workplace, kill

TREE = {'a': 'x\n', '.gitignore': '*.o\n'}


REDIRECTED = {
    '.gitignore': 'out/\n/bld\n',
    '.specfs.ini': ('[profile]\nname = t\n[redirect]\ndirs = out bld\n'
                    '[write]\n@ignored = scratch\n@any = owner\n'),
}


class UserPlace(Workplace):
    """A workplace that belongs to an ordinary user, in whose name the program runs."""
    def __enter__(self):
        need_fuse()
        need_program('fusermount3')
        super().__enter__()
        if os.geteuid() == 0:
            need_program('setpriv')
            for base, dirs, files in os.walk(self.tmp):
                for name in [base] + [os.path.join(base, n) for n in dirs + files]:
                    os.lchown(name, NOBODY, NOBODY)
            self.copy_program()
            self.as_user = ['setpriv', f'--reuid={NOBODY}', f'--regid={NOBODY}', '--clear-groups']
        else:
            self.as_user = []
        if not self.may_mount():
            self.__exit__()
            raise Skip('an ordinary user may not open /dev/fuse here')
        return self

    def copy_program(self):
        """The build directory may be closed to others."""
        self.bin = shutil.copy(self.bin, self.path('program'))
        profiles = self.env.get('SPECFS_PROFILE_DIR')
        if profiles:
            self.env['SPECFS_PROFILE_DIR'] = shutil.copytree(profiles, self.path('profiles'))

    def may_mount(self):
        test = ['sh', '-c', 'exec 3<> /dev/fuse']
        return run(self.as_user + test, ok=None).returncode == 0

    def specfs(self, *words, ok=(0, ), cwd=None, env=None, limit_sec=60):
        return run(self.as_user + [self.bin, *words], cwd=cwd or self.tmp,
                   env={**self.env, **(env or {})}, ok=ok, limit_sec=limit_sec)


def mount_look_unmount():
    with UserPlace(TREE) as w:
        at = w.path('m')
        o = w.json('mount', w.root, at)
        [seen] = [x for x in w.json('list') if x['mountpoint'] == at]
        equal((seen['pid'], seen['state']), (o['pid'], 'alive'), 'as listed')
        equal(w.json('status', at)['changes'], [], 'status')
        w.specfs('umount', at)
        equal((w.mounts(), w.daemons(), os.path.lexists(at)), ([], [], False), 'what is left')


def a_dead_one_is_cleared_away_and_recovered():
    with UserPlace(TREE) as w:
        at = w.path('m')
        kill(w.json('mount', w.root, at)['pid'])
        w.specfs('umount', at)
        equal(w.mounts(), [], 'what is mounted after umount')
        kill(w.json('mount', w.root, at)['pid'])
        p = w.specfs('mount', w.root, at)
        true(f"recovered '{at}'" in p.stderr, f'{p.stderr!r} says so')
        w.specfs('umount', at)
        true(not os.path.lexists(at), 'the mountpoint that was made is removed')


def what_is_saved_to_a_dead_view_fails():
    with UserPlace(TREE) as w:
        at = w.path('m')
        w.specfs('mount', '-q', w.root, at)
        below = os.open(w.tmp, os.O_PATH)
        kill(w.daemons()[0])
        run(w.as_user + ['fusermount3', '-uz', at])
        p = run(w.as_user + ['sh', '-c', f'echo lost > {at}/file'], ok=None)
        true(p.returncode != 0, 'a write under the mountpoint fails')
        w.specfs('mount', '-q', w.root, at)
        os.close(below)


def symlinks_lead_out_where_git_does_not_see_them():
    with UserPlace(REDIRECTED) as w:
        at = w.path('m')
        w.specfs('mount', '-q', '-s', w.path('s'), w.root, at)
        equal(as_user_sees(w, at), {'bld': 'symlink', 'out': 'no'}, 'by default')
        [why] = [o['why_not'] for o in w.json('redirect', 'list', at) if o['dir'] == 'out']
        true('.gitignore' in why and 'redirect=symlink' in why, f'why not: {why!r}')
        run(w.as_user + ['sh', '-ec', f'cd {at}; echo x > bld/x; mkdir out; test -d out'])
        equal(read_file(w.path('s', 'upper/bld/x')), b'x\n', 'in scratch')
        equal(run(w.as_user + ['git', '-C', at, 'status', '--porcelain']).stdout, '', 'git status')
        w.specfs('redirect', 'add', at, 'out')
        w.specfs('redirect', 'remove', at, 'bld')
        equal(as_user_sees(w, at), {'out': 'symlink'}, 'changed')
        run(w.as_user + ['sh', '-ec', f'cd {at}; test -d bld -a ! -L bld -a -L out; cat bld/x'])
        w.fault('redirect', 'add', '--form', 'bind', at, 'bld', has='may mount')
        run(w.as_user + ['fusermount3', '-u', at])
        wait_for(lambda: not w.daemons(), 'the daemon ends')
        equal(sorted(os.listdir(w.path('s', 'upper'))), ['bld', 'out'], 'what is left')
        w.specfs('mount', '-q', '-s', w.path('s'), '-o', 'redirect=symlink', w.root, at)
        equal(as_user_sees(w, at), {'bld': 'symlink', 'out': 'symlink'}, 'where it is asked for')
        w.specfs('umount', at)
        w.fault('mount', '-o', 'redirect=bind', w.root, at, has=["'redirect=bind'", 'specfs run'])


def as_user_sees(w, at):
    return {o['dir']: o['state'] for o in w.json('redirect', 'list', at)}


def options_that_need_root_are_told():
    with UserPlace(TREE) as w:
        if os.path.exists('/etc/fuse.conf') and any(
                line.strip() == b'user_allow_other'
                for line in read_file('/etc/fuse.conf').splitlines()):
            raise Skip('users may use allow_other here')
        for option in ('allow_other', 'allow_root'):
            w.fault('mount', '-o', option, w.root, w.path('m'),
                    has=[f"'{option}'", 'user_allow_other', '/etc/fuse.conf'])
        equal(w.mounts(), [], 'what is mounted')


def a_device_that_is_closed_to_users_is_told():
    if not os.environ.get('SPECFS_TEST_PRIVATE'):
        raise Skip('only root can close it, and only where nobody else uses it')
    with UserPlace(TREE) as w:
        os.chmod('/dev/fuse', 0o600)
        try:
            w.fault('mount', w.root, w.path('m'), has=['/dev/fuse', 'permission'])
        finally:
            os.chmod('/dev/fuse', 0o666)
        true(not os.path.lexists(w.path('m')), 'no mountpoint is left')


def a_missing_mount_table_is_told():
    need_namespace()
    with UserPlace(TREE) as w:
        os.mkdir(w.path('empty'))
        w.as_user = ['unshare', '-m', 'sh', '-ec', 'mount --bind "$0" /etc; exec "$@"',
                     w.path('empty'), *w.as_user]
        w.fault('mount', w.root, w.path('m'), has=['/etc/mtab', 'fusermount3'])
        true(not os.path.lexists(w.path('m')), 'no mountpoint is left')


def what_may_not_be_written_is_told():
    with UserPlace(TREE) as w:
        w.fault('mount', w.root, '/specfs-no-such-place', has=['cannot be made', 'Permission'])
        w.fault('mount', '-s', '/specfs-no-such-place', w.root, w.path('m'), has='Permission')
        equal(w.mounts(), [], 'what is mounted')
        true(not os.path.lexists(w.path('m')), 'no mountpoint is left')


def the_view_of_another_user():
    if os.geteuid() != 0:
        raise Skip('only root has views of two users')
    with UserPlace(TREE) as w:
        at = w.path('m')
        env = {**w.env, 'XDG_CACHE_HOME': w.path('root-cache')}
        run([w.bin, 'mount', '-q', '-o', 'cache=strict', w.root, at], env=env)
        [o] = [o for o in w.json('list') if o['mountpoint'] == at]
        equal((o['pid'], o['state']), (None, 'unknown'), "root's view, listed by a user")
        w.fault('umount', at, has='was mounted by user 0')
        w.fault('status', at, has=['belongs to user 0', 'allow_other'])
        w.fault('mount', w.root, at, has='is a mounted view already')
        run([w.bin, 'umount', at], env=env)
        run([w.bin, 'mount', '-q', '-o', 'allow_other', w.root, at], env=env)
        p = w.specfs('status', at)
        true(f'{at}: alive' in p.stdout, f'a view that lets others in tells: {p.stdout!r}')
        true("its owner's to see" in p.stderr, f'and what it does not tell: {p.stderr!r}')
        run([w.bin, 'umount', at], env=env)
        pid = w.json('mount', w.root, at)['pid']
        root = run([w.bin, 'list', '--json'], env=env).stdout
        true(f'"pid": {pid}' in root, f"a user's view, listed by root: {root}")
        run([w.bin, 'umount', at], env=env)
        true(not is_mounted(at), 'root may unmount it')


def scratch_is_for_its_owner():
    with UserPlace(TREE) as w:
        at = w.path('m')
        scratch = w.json('mount', w.root, at)['scratch']
        equal(os.stat(scratch).st_mode & 0o077, 0, 'rights of others on scratch')
        equal(os.stat(scratch + '/lock').st_mode & 0o077, 0, 'rights of others on its lock')


run_again_privately(OPEN_DEVICE)
main(mount_look_unmount, a_dead_one_is_cleared_away_and_recovered,
     what_is_saved_to_a_dead_view_fails, symlinks_lead_out_where_git_does_not_see_them,
     options_that_need_root_are_told,
     a_device_that_is_closed_to_users_is_told, a_missing_mount_table_is_told,
     what_may_not_be_written_is_told, the_view_of_another_user, scratch_is_for_its_owner)
