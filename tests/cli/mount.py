# SPDX-License-Identifier: MIT
"""specfs mount: what it fills in, what it says, and what it refuses with nothing made."""
import fcntl
import json
import os
import signal
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, 'lib'), os.path.join(HERE, '..', 'mount', 'lib')]

from checks import has_namespaces, need_namespace, read_file, wait_for, write_file
from mounted import equal, is_mounted, main, need_fuse, true
from workplace import Workplace


def defaults_are_filled_in_and_told_in_one_line():
    need_fuse()
    with Workplace() as w:
        below = os.path.join(w.root, 'python')
        p = w.specfs('mount', '-b', 'mthreads', cwd=below)
        at = w.root + '-mthreads'
        equal((p.stderr, p.stdout.count('\n')), ('', 1), 'one line on stdout, none on stderr')
        for text in (f"'{w.root}' as mthreads at '{at}'", "profile 'flagtree' because ",
                     f"scratch '{w.cache}/specfs/", '/log'):
            true(text in p.stdout, f'{text!r} in {p.stdout!r}')
        equal(read_file(at + '/python/triton/FLAGTREE_BACKEND').strip(), b'mthreads', 'the view')
        w.specfs('umount', at)
        true(not os.path.lexists(at), 'a mountpoint that was made is removed again')


def facts_as_json():
    need_fuse()
    with Workplace() as w:
        o = w.json('mount', '-b', 'mthreads,ppu', '-s', 'scr', w.root, 'at', cwd=w.tmp)
        equal((o['root'], o['mountpoint'], o['scratch']), (w.root, w.path('at'), w.path('scr')),
              'places')
        equal((o['backends'], o['profile']), (['mthreads', 'ppu'], 'flagtree'), 'what it is')
        equal([o['pid']], w.daemons(), 'pid')
        equal(o['log'], w.path('scr', 'log'), 'log')
        true('mounted' in read_file(o['log']).decode(), 'the log is written')
        equal(sorted(os.listdir(w.path('scr'))),
              ['control', 'lock', 'log', 'made', 'numbers', 'upper', 'work'], 'scratch')
        equal(json.loads(read_file(w.path('scr', 'lock'))), o, 'the lock file tells the same')


def a_chain_names_the_mountpoint():
    need_fuse()
    with Workplace() as w:
        equal(w.json('mount', '-b', 'mthreads,ppu', w.root)['mountpoint'],
              w.root + '-mthreads+ppu', 'mountpoint of a chain')


def without_a_backend_it_is_trunk_and_says_so():
    need_fuse()
    with Workplace() as w:
        p = w.specfs('mount', w.root)
        true('trunk alone' in p.stderr and 'mthreads' in p.stderr, f'{p.stderr!r} names backends')
        true(is_mounted(w.root + '-view'), 'mounted at ROOT-view')
        w.specfs('umount', w.root + '-view')
    with Workplace({'a': 'x\n'}) as w:
        equal(w.specfs('mount', w.root).stderr, '', 'nothing to choose, nothing to say')


def an_existing_mountpoint_stays():
    need_fuse()
    with Workplace() as w:
        os.mkdir(w.path('m'))
        equal(w.specfs('mount', '-q', '-b', 'ppu', w.root, w.path('m')).stdout, '', 'quiet')
        w.specfs('umount', w.path('m'))
        true(os.path.isdir(w.path('m')), 'it is there afterwards')


def odd_names_are_fine():
    need_fuse()
    with Workplace(None) as w:
        w.root = w.path('a b,c\\d\n"é')
        os.makedirs(w.root + '/.git')
        write_file(w.root + '/f', 'x\n')
        at = w.path('m \t,\\\n\'')
        equal(w.json('mount', w.root, at)['mountpoint'], at, 'mountpoint')
        equal(read_file(at + '/f'), b'x\n', 'a file of the view')
        [o] = [o for o in w.json('list') if o['mountpoint'] == at]
        equal((o['root'], o['state']), (w.root, 'alive'), 'as listed')
        equal(w.specfs('list').stdout.count('\\n'), 2, 'line ends in the text of list')
        w.specfs('umount', at)


def layers_without_a_backend():
    need_fuse()
    with Workplace({'a': 'trunk\n', 'b': 'trunk\n'}) as w:
        write_file(w.path('l1', 'a'), 'l1\n')
        write_file(w.path('l2', 'a'), 'l2\n')
        write_file(w.path('l2', 'b'), 'l2\n')
        w.specfs('mount', '-l', 'l1', '-l', w.path('l2'), w.root, w.path('m'))
        equal([read_file(w.path('m', n)) for n in 'ab'], [b'l1\n', b'l2\n'], 'highest first')
        write_file(w.path('m', 'a'), 'new\n')
        equal(read_file(w.path('l1', 'a')), b'l1\n', 'a change goes to scratch')
        w.specfs('umount', w.path('m'))
        w.specfs('mount', '-l', 'l1', '-o', 'write=owner', '-s', 's2', w.root, w.path('m'))
        write_file(w.path('m', 'a'), 'new\n')
        equal(read_file(w.path('l1', 'a')), b'new\n', 'with write=owner to the layer')


def read_only_and_scratch_all():
    need_fuse()
    with Workplace({'a': 'trunk\n'}) as w:
        for words in (['-r'], ['-o', 'ro']):
            w.specfs('mount', *words, w.root, w.path('m'))
            try:
                write_file(w.path('m', 'a'), 'x')
                raise AssertionError('a read-only view takes a write')
            except OSError as e:
                true(e.errno == 30, f'EROFS, not {e}')
            w.specfs('umount', w.path('m'))
        w.specfs('mount', '--scratch-all', w.root, w.path('m'))
        write_file(w.path('m', 'a'), 'new\n')
        equal((read_file(w.path('m', 'a')), read_file(w.root + '/a')), (b'new\n', b'trunk\n'),
              'in the view and in the checkout')
        w.specfs('umount', w.path('m'))
        w.specfs('mount', w.root, w.path('m'))
        equal(read_file(w.path('m', 'a')), b'trunk\n', 'a view without it has another scratch')


def the_foreground_stays():
    need_fuse()
    with Workplace({'a': 'x\n'}) as w:
        with open(w.path('out'), 'w', encoding='utf-8') as out:
            p = subprocess.Popen([w.bin, 'mount', '-f', 'root', 'm'], cwd=w.tmp, env=w.env,
                                 stdin=subprocess.DEVNULL, stdout=out, stderr=out)
        wait_for(lambda: read_file(w.path('out')).count(b'\n') >= 1, 'a line of output')
        equal(read_file(w.path('m', 'a')), b'x\n', 'a file of the view')
        equal(w.daemons(), [p.pid], 'the process that serves it')
        p.terminate()
        equal(p.wait(60), 0, 'exit status after SIGTERM')
        true(not os.path.lexists(w.path('m')), 'the mountpoint that was made is gone')


def mountpoints_that_are_refused():
    need_fuse()
    with Workplace() as w:
        write_file(w.path('full', 'x'), '')
        write_file(w.path('file'), '')
        os.mkdir(w.path('layer'))
        before = sorted(os.listdir(w.tmp))
        for at, has, more in (
            (w.root, 'is the checkout itself', []),
            (w.root + '/new', 'inside the checkout', []),
            (w.root + '/python', 'inside the checkout', []),
            (w.tmp, 'is inside mountpoint', []),
            ('/', 'is inside mountpoint', []),
            (w.path('full'), 'is not empty', []),
            (w.path('file'), 'is not a directory', []),
            (w.path('file', 'x'), 'Not a directory', []),
            (w.path('no', 'such'), 'No such file', []),
            (w.path('layer'), 'is the layer itself', ['-l', w.path('layer')]),
            (w.path('layer', 'x'), 'is inside the layer', ['-l', w.path('layer')]),
            (w.path('scr'), 'is the scratch itself', ['-s', w.path('scr')]),
            (w.path('m'), 'is inside mountpoint', ['-s', w.path('m', 'scr')]),
            ('/proc', 'is in use', []),
            ('x' * 5000, 'File name too long', []),
        ):
            w.fault('mount', '-b', 'mthreads', *more, w.root, at, has=[has])
            equal(sorted(os.listdir(w.tmp)), before, f'what is there after mounting at {at[:99]}')
        w.fault('mount', '-b', 'mthreads', '-s', w.root + '/scr', w.root, w.path('m'),
                has='scratch')
        equal(sorted(os.listdir(w.tmp)), before, 'what is there after scratch in the checkout')


def a_mountpoint_in_use_is_refused():
    need_fuse()
    with Workplace() as w:
        pid = w.json('mount', '-b', 'mthreads', w.root, w.path('m'))['pid']
        w.fault('mount', '-b', 'ppu', w.root, w.path('m'),
                has=['is a mounted view already', w.root, f'process {pid}'])
        w.fault('mount', '-b', 'ppu', w.root, w.path('m', 'python'), has='lies in the mounted view')
        w.fault('mount', '-b', 'ppu', w.path('m'), has=['lies in the mounted view', w.root])
        w.fault('mount', '-b', 'ppu', has='lies in the mounted view', cwd=w.path('m', 'python'))
        equal(w.mounts(), [w.path('m')], 'what is mounted after all these')


def a_scratch_in_use_is_refused():
    need_fuse()
    with Workplace() as w:
        pid = w.json('mount', '-b', 'mthreads', w.root, w.path('m'))['pid']
        w.fault('mount', '-b', 'mthreads', w.root, w.path('m2'),
                has=['is in use by the view mounted at', w.path('m'), f'process {pid}', '-s DIR'])
        true(not os.path.lexists(w.path('m2')), 'the second mountpoint was not made')
        w.specfs('mount', '-b', 'mthreads', '-s', w.path('s2'), w.root, w.path('m2'))


def one_that_starts_or_ends_in_scratch_is_waited_for():
    """It has no record of its own there: none, as of one that ends, or one of before it."""
    need_fuse()
    with Workplace({'a': 'x\n'}) as w:
        at, lock = w.path('m'), w.path('s', 'lock')
        mount = ['mount', '-q', '-s', w.path('s'), w.root, at]
        w.specfs(*mount)
        before = read_file(lock)
        w.specfs('umount', at)
        for record in (read_file(lock), before):
            with open(lock, 'r+b') as f:
                fcntl.flock(f, fcntl.LOCK_EX)
                f.write(record)
                f.flush()
                p = subprocess.Popen([w.bin, *mount], env=w.env, stderr=subprocess.PIPE, text=True)
                try:
                    said = p.communicate(timeout=0.7)[1]
                except subprocess.TimeoutExpired:
                    said = None
            true(said is None, f'it waits, and does not say {said!r}')
            equal((p.communicate(timeout=60)[1], p.returncode), ('', 0), 'once scratch is free')
            w.specfs('umount', at)
        with open(lock, 'r+b') as f:
            fcntl.flock(f, fcntl.LOCK_EX)
            w.fault(*mount, has='is in use by another view')


def a_scratch_without_xattrs_is_refused():
    need_fuse()
    with Workplace() as w:
        line = w.fault('mount', '-b', 'mthreads', '-s', '/proc/self/scr', w.root, w.path('m'),
                       has='scratch')
        true('/proc' in line, f'{line!r} names it')
        if has_namespaces():
            here = 'mount -t ramfs none scr && exec "$0" "$@"'
            os.mkdir(w.path('scr'))
            p = subprocess.run(['unshare', '-m', 'sh', '-c', here, w.bin, 'mount', '-b',
                                'mthreads', '-s', w.path('scr', 's'), w.root, w.path('m')],
                               cwd=w.tmp, env=w.env, capture_output=True, text=True, check=False)
            equal((p.returncode, p.stdout), (2, ''), f'with scratch on ramfs: {p.stderr!r}')
            true('extended attributes' in p.stderr, f'{p.stderr!r} says what is missing')
        true(not os.path.lexists(w.path('m')), 'no mountpoint was made')


def without_dev_fuse_it_says_what_to_do():
    need_fuse()
    need_namespace()
    with Workplace() as w:
        here = 'mount -t tmpfs none /dev && mknod -m 666 /dev/null c 1 3 && exec "$0" "$@"'
        p = subprocess.run(['unshare', '-m', 'sh', '-c', here, w.bin, 'mount', '-b', 'mthreads',
                            w.root, w.path('m')], cwd=w.tmp, env=w.env, capture_output=True,
                           text=True, check=False)
        equal((p.returncode, p.stdout, p.stderr.count('\n')), (2, '', 1), f'{p.stderr!r}')
        true('no /dev/fuse' in p.stderr and 'modprobe' in p.stderr, f'{p.stderr!r}')
        equal((os.path.lexists(w.path('m')), os.listdir(w.cache + '/specfs')), (False, []),
              'nothing was left: mountpoint, scratch')


def a_path_that_misleads_the_trunk_is_told():
    need_fuse()
    with Workplace() as w:
        os.mkdir(w.path('triton-work'))
        at = w.path('triton-work', 'm')
        p = w.specfs('mount', '-b', 'mthreads', w.root, at)
        true(p.stderr.count('\n') == 1 and '_flagtree_spec.py' in p.stderr and
             f"'{w.path('triton')}'" in p.stderr, f'it says: {p.stderr!r}')
        w.specfs('umount', at)
        equal(w.specfs('mount', '-q', '-b', 'mthreads', w.root, at).stderr, '', 'with -q')
        w.specfs('umount', at)
        os.remove(w.root + '/python/triton/_flagtree_spec.py')
        equal(w.specfs('mount', '-b', 'mthreads', w.root, at).stderr, '', 'a trunk without it')


def interrupted_it_leaves_all_or_nothing():
    need_fuse()
    with Workplace({'a': 'x\n'}) as w:
        for n in range(24):
            at = w.path('m')
            p = subprocess.Popen([w.bin, 'mount', w.root, at], env=w.env, stderr=subprocess.PIPE,
                                 stdout=subprocess.DEVNULL, text=True)
            try:
                p.wait(0.002 * n)
            except subprocess.TimeoutExpired:
                p.send_signal((signal.SIGINT, signal.SIGTERM)[n % 2])
            said = p.communicate(timeout=60)[1]
            if p.returncode == 0:
                equal(read_file(at + '/a'), b'x\n', 'a mounted view')
                w.specfs('umount', at)
            wait_for(lambda: not w.daemons(), f'no daemon after a signal; it said {said!r}')
            equal((w.mounts(), os.path.lexists(at)), ([], False), f'what is left; {said!r}')


def of_many_at_once_one_wins():
    need_fuse()
    with Workplace({'a': 'x\n'}) as w:
        at = w.path('m')
        for name in ('same', None):
            argvs = [[w.bin, 'mount', '-q', '-s', w.path(name or f's{n}'), w.root, at]
                     for n in range(6)]
            ps = [subprocess.Popen(argv, env=w.env, stderr=subprocess.PIPE, text=True)
                  for argv in argvs]
            said = [p.communicate(timeout=60)[1] for p in ps]
            equal(sorted(p.returncode for p in ps), [0, 2, 2, 2, 2, 2], f'exit statuses; {said}')
            equal(w.mounts(), [at], 'what is mounted')
            equal(sorted(text.count('\n') for text in said), [0, 1, 1, 1, 1, 1], f'lines: {said}')
            w.specfs('umount', at)


def what_the_caller_has_open_is_not_kept():
    need_fuse()
    with Workplace({'a': 'x\n'}) as w:
        r, end = os.pipe()
        os.set_inheritable(end, True)
        subprocess.run([w.bin, 'mount', '-q', w.root, w.path('m')], env=w.env, close_fds=False,
                       check=True, timeout=60)
        os.close(end)
        equal(os.read(r, 1), b'', 'the pipe ends although the daemon runs')
        os.close(r)


main(defaults_are_filled_in_and_told_in_one_line, facts_as_json, a_chain_names_the_mountpoint,
     without_a_backend_it_is_trunk_and_says_so, an_existing_mountpoint_stays, odd_names_are_fine,
     layers_without_a_backend, read_only_and_scratch_all, the_foreground_stays,
     mountpoints_that_are_refused, a_mountpoint_in_use_is_refused, a_scratch_in_use_is_refused,
     one_that_starts_or_ends_in_scratch_is_waited_for, a_scratch_without_xattrs_is_refused,
     without_dev_fuse_it_says_what_to_do, a_path_that_misleads_the_trunk_is_told,
     interrupted_it_leaves_all_or_nothing, of_many_at_once_one_wins,
     what_the_caller_has_open_is_not_kept)
