# SPDX-License-Identifier: MIT
"""Directories are redirected and put back while a view is mounted, and whatever ends the mount ends
them; nothing tears them off before.
"""
import json
import os
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from checks import unmount
from mounted import View, equal, is_mounted, main, need_program, run, true, wait_for, write_file
from redirects import is_out, mounts_below, need_bind, redirects


def faults(v, *words, has):
    p = v.cli(*words, ok=(2, ))
    equal((p.stdout, p.stderr.count('\n')), ('', 1), f'what {words} says: {p.stderr!r}')
    for text in has:
        true(text in p.stderr, f'{words} says {text!r}: {p.stderr!r}')


def alive(v):
    """Is it mounted, and not by a daemon that is dead?"""
    return any(o['mountpoint'] == v.mnt and o['state'] == 'alive'
               for o in json.loads(v.cli('list', '--json').stdout))


def content_is_kept():
    need_bind()
    with View('flagtree-mini', 'enflame') as v:
        name = 'build-a b'
        os.mkdir(v.path(name))
        v.write(name + '/before', b'1')
        true(not v.exists(name + '/later'), 'the kernel knows that it is not there')
        equal(v.listdir(name), ['before'], 'before')
        v.cli('redirect', 'add', v.mnt, name)
        equal((redirects(v)[name], is_out(v, name)), ('bind', True), 'redirected')
        v.write(name + '/later', b'2')
        os.rename(v.path(name + '/before'), v.path(name + '/moved'))
        equal(v.listdir(name), ['later', 'moved'], 'meanwhile')
        v.cli('redirect', 'remove', v.mnt, v.path(name))
        true(name not in redirects(v) and not is_out(v, name), 'put back')
        equal(v.listdir(name), ['later', 'moved'], 'after')
        equal((v.read(name + '/later'), v.read(name + '/moved')), (b'2', b'1'), 'contents')
        true(not v.exists(name + '/before'), 'what was renamed away is not there')
        v.write(name + '/later', b'333')
        v.cli('redirect', 'add', v.mnt, name)
        equal(v.read(name + '/later'), b'333', 'once more')
        v.remount()
        true(name not in redirects(v), 'it lasts as long as the mount')
        equal(v.read(name + '/later'), b'333', 'after a remount')


def what_may_not_be_is_told():
    need_bind()
    with View('flagtree-mini', 'enflame', prepare=lambda root: write_file(
            os.path.join(root, 'data/x'), b'x')) as v:
        os.symlink('data', v.path('build-link'))
        add = ('redirect', 'add', v.mnt)
        faults(v, *add, 'data', has=["'data'", 'trunk has a part in it'])
        faults(v, *add, 'lib', has=["'lib'", 'has a part in it'])
        faults(v, *add, 'doc', has=["'doc'", '@any = owner'])
        faults(v, *add, 'lib/new', has=["'lib/new'", '@mapped = spec'])
        faults(v, *add, 'build-link/x', has=["'build-link' is a symlink"])
        faults(v, *add, 'build-link', has=['it is a symlink'])
        faults(v, *add, '../out', has=['is not in the view'])
        faults(v, *add, v.root, has=['is not in the view'])
        faults(v, *add, '.', has=['the view itself'])
        faults(v, *add, '.git/x', has=['/.git = deny'])
        faults(v, *add, has=['needs a mountpoint and a directory'])
        faults(v, 'redirect', 'remove', v.mnt, 'build-q', has=["'build-q' is not redirected"])
        faults(v, 'redirect', 'put', v.mnt, has=["'put'", 'add, list, remove'])
        faults(v, 'redirect', 'add', v.tmp, 'build', has=['in no mounted view'])
        v.cli(*add, 'build-1')
        faults(v, *add, 'build-1/deep', has=["lies in 'build-1'"])
        equal(mounts_below(v.mnt), [v.mnt, v.path('build-1')], 'what is mounted')


def who_uses_it_is_told():
    need_bind()
    with View('flagtree-mini', 'enflame') as v:
        os.mkdir(v.path('build-1'))
        for act in ('add', 'remove'):
            with subprocess.Popen(['sleep', '60'], cwd=v.path('build-1')) as p:
                try:
                    faults(v, 'redirect', act, v.mnt, 'build-1', has=[f'process {p.pid} (sleep'])
                    equal(is_out(v, 'build-1'), act == 'remove', 'nothing is changed')
                    if act == 'remove':
                        faults(v, 'umount', v.mnt, has=[f'process {p.pid} (sleep'])
                        true(is_out(v, 'build-1') and is_mounted(v.mnt), 'nothing is changed')
                finally:
                    p.kill()
            v.cli('redirect', act, v.mnt, 'build-1')
        os.mkdir(v.path('build'))
        # what is redirected is free, the view is not: all is as before
        with open(v.path('CMakeLists.txt'), 'rb'):
            faults(v, 'umount', v.mnt, has=[f'process {os.getpid()}'])
            true(is_out(v, 'build'), 'what is redirected is mounted again')


def every_end_takes_them_down():
    need_bind()
    need_program('umount')
    with View('flagtree-mini', 'enflame') as v:
        for end in ('specfs', 'lazy', 'all', 'term', 'term in use', 'kill'):
            if not is_mounted(v.mnt):
                v.mount()
            run(['mkdir', '-p', v.path('build'), v.path('python/build')])
            wait_for(lambda: len(mounts_below(v.mnt)) == 3, f'{end}: all are redirected')
            v.write('build/x', end.encode())
            if end == 'specfs':
                v.umount()
            elif end == 'lazy':
                run(['umount', '-l', v.mnt])
                v._reap(0)
            elif end == 'all':
                unmount(v.mnt, 'umount', '-R')
                v._reap(0)
            elif end == 'term':
                v.kill(signal.SIGTERM)
            elif end == 'term in use':
                with subprocess.Popen(['sleep', '60'], cwd=v.path('build')) as p:
                    v.kill(signal.SIGTERM)
                    p.kill()
            else:
                v.kill()
                equal(v.read('build/x'), b'kill', 'without the daemon')
                v.mount()
                wait_for(lambda: alive(v), 'recovered')
                equal(len(mounts_below(v.mnt)), 3, 'what is mounted')
                equal(v.read('build/x'), b'kill', 'with the next one')
                v.umount()
            equal(mounts_below(v.tmp), [], f'{end}: what is left mounted')
            equal(os.listdir(v.scratch + '/upper/build'), ['x'], f'{end}: what was built')
            true(not os.path.lexists(v.scratch + '/upper/python/build'), f'{end}: an empty one')


def nothing_tears_them_off():
    need_bind()
    with View('flagtree-mini', 'enflame') as v:
        run(['mkdir', v.path('build'), v.path('python/build')])
        v.write('python/build/x', b'x')
        python = os.path.join(v.root, 'python')
        with subprocess.Popen(['sleep', '60'], cwd=v.path('python/build')) as p:
            try:
                for change in (lambda: write_file(python + '/new', b'n'),
                               lambda: os.rename(python, v.root + '/away'),
                               lambda: os.mkdir(python),
                               lambda: os.rmdir(python),
                               lambda: os.rename(v.root + '/away', python),
                               lambda: os.mkdir(v.root + '/build'),
                               lambda: write_file(v.root + '/build/y', b'y'),
                               lambda: write_file(v.root + '/.gitignore', b''),
                               lambda: run(['rm', '-rf', v.root + '/build']),
                               lambda: v.git('checkout', '-q', '-f', '.')):
                    change()
                    v.cli('sync', v.mnt)
                    equal(len(mounts_below(v.mnt)), 3, 'what is mounted')
                    equal(v.read('python/build/x'), b'x', 'what is in it')
                    equal(os.readlink(f'/proc/{p.pid}/cwd'), v.path('python/build'), 'who is in it')
            finally:
                p.kill()


def other_caches_keep_them():
    need_bind()
    for mode in ('strict', 'ttl=0.05'):
        with View('flagtree-mini', 'enflame', opts=['-o', 'cache=' + mode]) as v:
            os.mkdir(v.path('build'))
            v.write('build/x', b'x')
            true(is_out(v, 'build'), f'{mode}: redirected')
            for _ in range(20):
                os.listdir(v.mnt)
                os.stat(v.path('build'))
            v.cli('redirect', 'remove', v.mnt, 'build')
            wait_for(lambda: v.listdir('build') == ['x'], f'{mode}: put back')


def options_decide():
    with View('flagtree-mini', 'enflame', opts=['-o', 'redirect=none']) as v:
        os.mkdir(v.path('build'))
        equal((redirects(v), is_out(v, 'build')), ({}, False), 'none')
        faults(v, 'mount', '-o', 'redirect=hard', v.root, v.tmp + '/m', has=["'hard'", 'symlink'])
    with View('flagtree-mini', 'enflame', opts=['-r']) as v:
        equal(redirects(v), {'build': 'no', 'python/build': 'no'}, 'read-only')
    with View('flagtree-mini', 'enflame', opts=['-o', 'redirect=symlink']) as v:
        place = v.scratch + '/upper/build'
        equal(os.readlink(v.path('build')), place, 'the symlink')
        v.write('build/x', b'x')
        equal(os.listdir(place), ['x'], 'in scratch')
        for argv in (['rm', '-rf', 'build'], ['mv', 'build', 'b2'], ['mkdir', 'build']):
            run(argv, cwd=v.mnt, ok=(1, ))
        v.cli('redirect', 'remove', v.mnt, 'build')
        equal((os.path.islink(v.path('build')), v.listdir('build')), (False, ['x']), 'put back')
        v.cli('redirect', 'add', '--form', 'symlink', v.mnt, 'build')
        equal(os.readlink(v.path('build')), place, 'once more')
        v.umount()
        true(not os.path.lexists(v.scratch + '/upper/python/build'), 'an empty one goes')


def status_and_which_know_them():
    need_bind()
    with View('flagtree-mini', 'enflame') as v:
        os.mkdir(v.path('build'))
        text = v.cli('status', v.mnt).stdout
        true('redirected build: bind' in text and 'changes in scratch: none' in text, text)
        v.write('build/x', b'x')
        true('upper/build/x' in v.cli('which', v.path('build/x')).stdout, 'which, of a file in it')
        true('enflame' in v.cli('status', cwd=v.path('build')).stdout, 'status, from inside')
        equal(v.cli('redirect', 'list', cwd=v.path('build')).stdout.split()[3:5],
              ['build', 'bind'], 'list, from inside')
        unmount(v.path('build'))
        equal(redirects(v)['build'], 'lost', 'after somebody has unmounted it')
        v.cli('redirect', 'remove', v.mnt, 'build')
        equal(v.listdir('build'), ['x'], 'put back')


main(content_is_kept, what_may_not_be_is_told, who_uses_it_is_told, every_end_takes_them_down,
     nothing_tears_them_off, other_caches_keep_them, options_decide, status_and_which_know_them)
