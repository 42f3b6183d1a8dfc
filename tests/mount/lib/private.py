# SPDX-License-Identifier: MIT
"""Going on as an ordinary user, where root runs the tests."""
import atexit
import glob
import os
import shutil
import sys
import tempfile
import traceback

import mounted
from checks import Skip, need_program, run, true
from mounted import HERE, SKIP, View, binary, is_mounted, need_fuse, remove_tree, temp_base
from namespace import run_again_privately

NOBODY = 65534
# a device that others may open, as it is on most machines
OPEN_DEVICE = ('mount -t tmpfs none /mnt && mknod -m 666 /mnt/fuse c 10 229 &&'
               ' mount --bind /mnt/fuse /dev/fuse')


def profile_dir():
    return os.environ.get('SPECFS_PROFILE_DIR') or os.path.join(HERE, '..', '..', '..', 'config')


def _copies(directory):
    """Profiles, extension and program where others may read them: what was built may be closed.

    Returns the program and the environment that names the others.
    """
    env = {'SPECFS_PROFILE_DIR': shutil.copytree(profile_dir(),
                                                 os.path.join(directory, 'profiles'))}
    hooks = os.environ.get('SPECFS_HOOKS_DIR')
    if hooks:
        env['SPECFS_HOOKS_DIR'] = os.path.join(directory, 'hooks')
        os.mkdir(env['SPECFS_HOOKS_DIR'])
        for file in glob.glob(os.path.join(glob.escape(hooks), '*.so')):
            shutil.copy(file, env['SPECFS_HOOKS_DIR'])
    return shutil.copy(binary(), os.path.join(directory, 'program')), env


def _copy_program():
    tmp = tempfile.mkdtemp(prefix='specfs-user-', dir=temp_base())
    os.environ['SPECFS_BIN'], env = _copies(tmp)
    os.environ.update(env)
    mounted.TREES = shutil.copytree(mounted.TREES, os.path.join(tmp, 'trees'), symlinks=True)
    for base, dirs, files in os.walk(tmp):
        for name in [base] + [os.path.join(base, n) for n in dirs + files]:
            os.chown(name, NOBODY, NOBODY, follow_symlinks=False)
    atexit.register(remove_tree, tmp)


def as_nobody(call):
    """Call it in a process of an ordinary user; what it raises is raised here, as an assertion."""
    read, write = os.pipe()
    pid = os.fork()
    if not pid:
        status = 1
        try:
            os.close(read)
            become_nobody()
            call()
            status = 0
        except BaseException:
            os.write(write, traceback.format_exc().encode())
        finally:
            os._exit(status)
    os.close(write)
    with open(read, 'rb') as f:
        said = f.read().decode(errors='replace')
    true(os.waitpid(pid, 0)[1] == 0, f'as an ordinary user: {said}')


def as_command():
    """What to put before a command line that the ordinary user is to run."""
    need_program('setpriv')
    return ['setpriv', f'--reuid={NOBODY}', f'--regid={NOBODY}', '--clear-groups']


def _run_again_readably():
    """Go on with a Python that the ordinary user may read, which one in somebody's home is not."""
    for python in (sys.executable, *(os.path.join(d, 'python3') for d in os.get_exec_path())):
        # not by setpriv, which still has root's power when it looks for a program
        if not run([*as_command(), 'sh', '-c', 'exec "$0" -c ""', python], ok=None).returncode:
            break
    else:
        raise Skip('there is no Python that this user may read')
    if python != sys.executable:
        true('SPECFS_TEST_PYTHON' not in os.environ, f'{python} is the same for root')
        os.environ['SPECFS_TEST_PYTHON'] = python
        os.execv(python, [python, '-B', *sys.argv])


def become_nobody():
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)


class UserView(View):
    """A View whose daemon is an ordinary user's, of a checkout that may be another's; for root.

    Whoever is not that user, root too, is not let in: see as_nobody().
    """

    def _setup(self):
        self.bin, env = _copies(self.tmp)
        self.more_env.update(env)
        super()._setup()
        for name in (self.tmp, self.mnt, self.scratch, self.env['XDG_RUNTIME_DIR']):
            os.chown(name, NOBODY, NOBODY)
        os.chmod(self.tmp, 0o755)

    def mount_argv(self):
        return [*as_command(), *super().mount_argv()]

    def _answers(self):
        if self.daemon.poll() is not None:
            return super()._answers()
        return is_mounted(self.mnt)


def as_asked():
    """With the word `user` on the command line, go on as an ordinary user; call it before main().

    Exits with the status of a skipped test where such a user cannot mount.
    """
    if sys.argv[1:] != ['user']:
        return
    try:
        if os.geteuid() != 0:
            raise Skip('the test itself is run as one')
        run_again_privately(OPEN_DEVICE)
        _run_again_readably()
        _copy_program()
        become_nobody()
        os.chdir(temp_base())
        os.environ['HOME'] = temp_base()
        need_fuse()
    except Skip as e:
        print(f'skip  as an ordinary user: {e}', flush=True)
        sys.exit(SKIP)
