# SPDX-License-Identifier: MIT
"""Unmounting with work under way, many mounts one after the other, layers that turn read-only, a
daemon that is started from places of its own mount: nothing hangs, nothing is left behind."""
import errno
import mmap
import os
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from daemontree import PLACES, SPEC, TREE, view  # noqa: E402
from loopfs import LoopFs  # noqa: E402
from mounted import (View, commit_all, equal, fails, git, is_mounted, main,  # noqa: E402
                     make_tree, need_program, read_file, run, true, wait_for, write_file)

MB = 1 << 20


def connection(v):
    """The kernel's directory for this mount's connection, or None where it can't be seen."""
    at = f'/sys/fs/fuse/connections/{os.minor(os.stat(v.mnt).st_dev)}'
    return at if os.path.isdir(at) and os.access(at + '/waiting', os.R_OK) else None


def ends(v, conn, what):
    """The mount and its daemon are gone within seconds, and no request waits."""
    wait_for(lambda: not is_mounted(v.mnt), f'{what}: unmounted')
    wait_for(lambda: v.daemon.poll() is not None, f'{what}: the daemon ends')
    equal(v.daemon.returncode, 0, f'{what}: exit status')
    v.daemon = None
    true(not conn or not os.path.exists(conn), f'{what}: the connection is gone')


def busy(v):
    """`specfs umount` of a mount in use: refused at once, in one line."""
    p = run([v.bin, 'umount', v.mnt], env=v.env, ok=(2, ), limit_sec=60)
    equal((p.stderr.count('\n'), 'in use' in p.stderr), (1, True), f'it says {p.stderr!r}')


def while_a_build_runs():
    need_program('make', 'cc')
    objects = ' '.join(f'o{i}.o' for i in range(400))
    rules = f'all: {objects}\n%.o:\n\tcc -c -o $@ ../lib/a.cpp\n'
    with view() as v:
        os.mkdir(v.path('build'))
        v.write('build/Makefile', rules)
        conn = connection(v)
        build = subprocess.Popen(['make', '-j4', '-k'], cwd=v.path('build'),
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                 start_new_session=True)
        try:
            wait_for(lambda: os.path.exists(v.path('build/o3.o')), 'the build runs')
            busy(v)
            true(v.exists('doc/t.txt'), 'the view is as it was')
        finally:
            os.killpg(build.pid, signal.SIGKILL)
            build.wait()
        # compilers of the killed group may take a moment to die
        wait_for(lambda: run([v.bin, 'umount', v.mnt], env=v.env, ok=None).returncode == 0,
                 'unmounted once the build is gone')
        ends(v, conn, 'after a build')


def while_a_big_file_is_copied_up():
    """The copy is finished or undone, and the unmount waits for no more than that."""
    size = 200 * MB

    def big(root):
        with open(f'{root}/include/big.h', 'wb') as f:
            for _ in range(size // MB):
                f.write(os.urandom(4096) * 256)

    with view(dirty=big) as v:
        conn = connection(v)
        results = []

        def change():
            try:
                with open(v.path('include/big.h'), 'r+b') as f:
                    f.seek(size)
                    f.write(b'end')
                results.append('changed')
            except OSError as e:
                results.append(e.errno)

        t = threading.Thread(target=change)
        t.start()
        v.daemon.send_signal(signal.SIGTERM)
        t.join()
        ends(v, conn, 'during a copy-up')
        copy = f'{v.root}/{SPEC}/big.h'
        if results == ['changed']:
            equal(os.stat(copy).st_size, size + 3, 'size of the copy')
            true(read_file(copy)[:size] == read_file(f'{v.root}/include/big.h'), 'the copy')
        else:
            true(results[0] in (errno.ENOTCONN, errno.EIO, errno.ECONNABORTED, errno.ENOENT),
                 f'{results}')
            true(not os.path.exists(copy), 'no half copy')
        equal(os.stat(f'{v.root}/include/big.h').st_size, size, 'the trunk file')
        equal([n for n in os.listdir(f'{v.root}/{SPEC}') if n not in ('both.h', 's.h', 'big.h')
               and not n.startswith('.specfs')], [], 'left-overs')


def with_dirty_maps():
    """A lazy unmount: what was stored in the maps arrives when they go."""
    with view() as v:
        os.mkdir(v.path('build'))
        conn, maps = connection(v), {}
        for place in PLACES:
            v.write(f'{place}/mapped', b'.' * 100000)
            fd = os.open(v.path(f'{place}/mapped'), os.O_RDWR)
            maps[place] = mmap.mmap(fd, 100000)
            os.close(fd)
            maps[place][99990:] = b'dirty.page'
        busy(v)
        run([v.bin, 'umount', '--lazy', v.mnt], env=v.env, limit_sec=60)
        true(not is_mounted(v.mnt), 'out of sight')
        for m in maps.values():
            m[:5] = b'later'
            m.close()
        ends(v, conn, 'lazily')
        real = {'build': f'{v.scratch}/upper/build', 'doc': f'{v.root}/doc',
                'include': f'{v.root}/{SPEC}'}
        for place in PLACES:
            data = read_file(f'{real[place]}/mapped')
            equal((data[:5], data[-10:]), (b'later', b'dirty.page'), place)


def many_mounts_leave_nothing():
    """Each cycle gives back processes, mounts, temporary files, locks and records."""
    with view(mount=False) as v:
        def left():
            """Names below the temporary directory, but for scratch, which is kept."""
            return sorted(os.path.relpath(os.path.join(base, n), v.tmp)
                          for base, dirs, names in os.walk(v.tmp) for n in dirs + names
                          if '.git' not in base)

        for _ in range(3):  # the log of the last but one is kept, too
            v.foreground = not v.foreground
            v.mount()
            v.umount()
        before, temps = left(), set(os.listdir('/tmp'))
        for i in range(15):
            v.foreground = i % 2 == 0
            v.mount()
            v.write('doc/t.txt', f'round {i}\n')
            v.umount()
        equal(left(), before, 'files after 15 mounts')
        new = {n for n in set(os.listdir('/tmp')) - temps if n.startswith(('.specfs', 'fuse'))}
        equal(new, set(), 'temporary files')
        run([v.bin, 'list'], env=v.env)
        equal(children_named(v), [], 'processes')


def children_named(v):
    """Processes whose command line names this test's directory."""
    found = []
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            line = read_file(f'/proc/{pid}/cmdline')
        except OSError:
            continue
        if os.fsencode(v.tmp) in line:
            found.append(line)
    return found


def a_layer_turns_read_only_and_back():
    with LoopFs('ext4', 40) as at:
        root = os.path.join(at, 'checkout')
        make_tree(TREE, root)
        commit_all(root)
        with View(root=root, backend='b', opts=['-p', 'flagtree']) as v:
            os.mkdir(v.path('build'))
            for i in range(3):
                remount_ro(at)
                fails(errno.EROFS, os.mkdir, v.path(f'doc/new{i}'))
                for name in ('doc/t.txt', 'include/t.h', 'include/both.h'):
                    fails(errno.EROFS, append, v.path(name), 'x\n')
                    true(v.read(name), f'{name} can be read')
                fails(errno.EROFS, os.rename, v.path('doc/t.txt'), v.path('doc/u.txt'))
                fails(errno.EROFS, os.unlink, v.path('include/both.h'))
                v.write(f'build/product{i}', 'scratch is elsewhere')
                run(['mount', '-o', 'remount,rw', at])
                os.mkdir(v.path(f'doc/new{i}'))
                for name in ('doc/t.txt', 'include/t.h', 'include/both.h'):
                    append(v.path(name), f'round {i}\n')
                    true(v.read(name).endswith(b'round %d\n' % i), f'{name}: written again')
        equal(read_file(f'{root}/include/t.h'), b'trunk t\n', 'the trunk file')


def remount_ro(at):
    """Busy while a descriptor for writing is open: the daemon closes its own soon."""
    wait_for(lambda: run(['mount', '-o', 'remount,ro', at], ok=None).returncode == 0,
             'the layer turns read-only')


def append(path, text):
    with open(path, 'a') as f:
        f.write(text)


def everything_of_the_daemon_lies_in_its_own_mount():
    """Working directory, HOME, cache and git's configuration: it never asks itself."""
    with view(mount=False) as v:
        v.mount()
        v.umount()
        for place in PLACES:
            os.makedirs(f'{v.root}/{place}/home', exist_ok=True)
        v.env = dict(v.env, HOME=v.path('doc/home'), XDG_CONFIG_HOME=v.path('doc/home/.config'),
                     XDG_CACHE_HOME=v.path('build/home'), TMPDIR=v.path('doc/home'),
                     GIT_CONFIG_GLOBAL=v.path('doc/home/.gitconfig'))
        write_file(f'{v.root}/doc/home/.gitconfig', '[core]\n\texcludesFile = ~/ignored\n')
        write_file(f'{v.root}/doc/home/ignored', '*.junk\n')
        v.mount()
        os.makedirs(v.path('build'), exist_ok=True)
        for i in range(20):
            v.write(f'doc/f{i}.o', 'x')
            v.write(f'build/f{i}', 'x')
        out = run(['git', '-c', 'safe.directory=*', 'log', '--oneline'], cwd=v.mnt, limit_sec=60)
        true(out.stdout, 'git log in the mount')
        v.env['XDG_CACHE_HOME'] = os.path.join(v.tmp, 'cache')
        # a second view of the same checkout is started from inside the first
        with View(root=v.root, backend='b', opts=['-p', 'flagtree'], mount=False) as w:
            here = os.getcwd()
            os.chdir(v.path('doc'))
            try:
                w.mount()
            finally:
                os.chdir(here)
            equal(w.read('include/both.h'), b'spec both\n', 'the second view')
            p = run([v.bin, 'umount', v.mnt], env=v.env, ok=(0, 2), limit_sec=60)
            if p.returncode:
                true('in use' in p.stderr, p.stderr)
        if is_mounted(v.mnt):
            v.umount()
        v.daemon = None if v.daemon and v.daemon.poll() is not None else v.daemon


def fsmonitor_and_hooks_in_the_mount_do_not_hang():
    with view() as v:
        os.mkdir(v.path('build'))
        git(v.tmp, 'clone', '-q', v.root, v.path('build/repo'))
        repo = v.path('build/repo')
        v.write('build/repo/.git/hooks/pre-commit',
                f'#!/bin/sh\nls -R {v.mnt} > /dev/null\ngit -C {v.mnt} log -1 > /dev/null\n')
        os.chmod(v.path('build/repo/.git/hooks/pre-commit'), 0o755)
        end = time.monotonic() + 60
        append(f'{repo}/doc/t.txt', 'more\n')
        git(repo, 'commit', '-qam', 'with a hook')
        true(time.monotonic() < end, 'in time')


main(while_a_build_runs, while_a_big_file_is_copied_up, with_dirty_maps,
     many_mounts_leave_nothing, a_layer_turns_read_only_and_back,
     everything_of_the_daemon_lies_in_its_own_mount, fsmonitor_and_hooks_in_the_mount_do_not_hang)
