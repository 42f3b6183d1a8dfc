# SPDX-License-Identifier: MIT
"""Mounting by mount(8) and fstab(5): the call of mount.fuse3, its options, its mistakes."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, 'lib'), os.path.join(HERE, '..', 'mount', 'lib')]

from checks import Skip, need_program, read_file, run, unmount
from mounted import equal, main, need_fuse, true
from namespace import run_again_privately
from workplace import Workplace

PASSED_ON = ('rw,nofail,_netdev,user=me,noauto,x-systemd.automount,X-mount.mkdir=0755,dev,suid,'
             'nosuid,nodev,noatime')


def a_call_is_recognised():
    need_fuse()
    with Workplace() as w:
        at = w.path('m')
        for words in ([w.root, at, '-o', f'{PASSED_ON},backend=mthreads'],
                      [w.root, at, '-o', 'backend=mthreads,profile=flagtree,scratch=' +
                       w.path('s')],
                      [w.root, at, '-o', 'backend=mthreads', '-o', 'ro']):
            p = w.specfs(*words)
            equal((p.stdout, p.stderr), ('', ''), 'what it says')
            equal(read_file(at + '/python/triton/FLAGTREE_BACKEND').strip(), b'mthreads', 'view')
            w.specfs('umount', at)
        true(os.path.isdir(w.path('s', 'upper')), 'scratch= was taken')


def the_helpers_name_is_recognised():
    need_fuse()
    with Workplace() as w:
        at = w.path('m')
        os.symlink(w.bin, w.path('mount.fuse.specfs'))
        helper = w.path('mount.fuse.specfs')
        run([helper, w.root, at, '-fn', '-o', 'backend=nope'], env=w.env)
        equal(w.mounts(), [], 'what is mounted after -f')
        p = run([helper, w.root, at, '-snv', '-o', 'backend=mthreads', '-t', 'fuse.specfs'],
                env=w.env)
        true(p.stdout.startswith('mounted '), f'-v tells: {p.stdout!r}')
        w.specfs('umount', at)


def a_chain_and_the_last_value():
    need_fuse()
    with Workplace() as w:
        at = w.path('m')
        w.specfs(w.root, at, '-o', 'backend=mthreads,cache=strict,backend=ppu,cache=ttl=1.5')
        [o] = [o for o in w.json('list') if o['mountpoint'] == at]
        equal(o['backends'], ['mthreads', 'ppu'], 'chain')


def noexec_is_kept():
    need_fuse()
    with Workplace({'run': '#!/bin/sh\n'}) as w:
        os.chmod(w.root + '/run', 0o755)
        run([w.root + '/run'])
        at = w.path('m')
        w.specfs(w.root, at, '-o', 'noexec')
        try:
            run([at + '/run'])
            raise AssertionError('a program can be run from a view that is noexec')
        except PermissionError:
            pass
        w.specfs('umount', at)
        w.specfs(w.root, at, '-o', 'exec')
        run([at + '/run'])


def mistakes_are_told():
    with Workplace() as w:
        at = w.path('m')
        w.fault(w.root, at, '-o', 'backend=nope', has="no backend 'nope'")
        w.fault(w.root, at, '-o', 'bakend=mthreads', has="unknown mount option 'bakend'")
        w.fault(w.root, at, '-o', 'remount,ro', has='cannot be remounted')
        w.fault(w.path('nope'), at, '-o', 'backend=mthreads', has='No such file')
        equal(sorted(os.listdir(w.tmp)), ['root'], 'what is there after all these')


def mount_8_itself():
    need_fuse()
    need_program('mount')
    if not os.environ.get('SPECFS_TEST_PRIVATE'):
        raise Skip('mount(8) is for root, in a mount namespace of its own')
    if not any(os.path.exists(f'/sbin/mount.fuse{n}') for n in ('', '3')):
        raise Skip('mount.fuse is not installed')
    with Workplace() as w:
        at = w.path('m')
        os.mkdir(at)
        os.symlink(w.bin, '/usr/local/sbin/specfs')
        run(['mount', '-t', 'fuse.specfs', w.root, at, '-o', 'backend=mthreads,nofail'], env=w.env)
        equal(read_file(at + '/python/triton/FLAGTREE_BACKEND').strip(), b'mthreads', 'the view')
        unmount(at)
        p = run(['mount', '-t', 'fuse.specfs', w.root, at, '-o', 'backend=nope'], env=w.env,
                ok=None)
        true(p.returncode != 0 and "no backend 'nope'" in p.stderr, f'{p.returncode} {p.stderr!r}')
        # by fstab, twice: what is mounted is not mounted again
        with open(w.path('fstab'), 'w', encoding='utf-8') as f:
            f.write(f'{w.root} {at} fuse.specfs backend=mthreads,nofail 0 0\n')
        for _ in range(2):
            run(['mount', '-a', '-T', w.path('fstab')], env=w.env)
        equal(w.mounts(), [at], 'what is mounted after mount -a')


# mount(8) has a PATH of its own for the programs it calls
run_again_privately('mount -t tmpfs none /usr/local/sbin')
main(a_call_is_recognised, the_helpers_name_is_recognised, a_chain_and_the_last_value,
     noexec_is_kept, mistakes_are_told, mount_8_itself)
