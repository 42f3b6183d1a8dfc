# SPDX-License-Identifier: MIT
"""Builds in a redirected directory: the daemon hears nothing of what they write."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from mounted import View, equal, fails, git, main, need_program, read_file, run, true
from redirects import changes, is_out, need_bind, redirects, status

BUILD = ['cmake', '-G', 'Ninja', '-B', 'build', '--log-level=ERROR']


def cmake_and_ninja_write_past_the_mount():
    need_bind()
    for program in ('cmake', 'ninja', 'c++'):
        need_program(program)
    with View('flagtree-mini', 'enflame') as v:
        equal(redirects(v), {'build': 'no', 'python/build': 'no'}, 'before anything is built')
        true(not v.exists('build'), 'there is no build directory that nobody made')
        run(BUILD, cwd=v.mnt, limit_sec=120)
        true(is_out(v, 'build'), 'the build directory that cmake made is redirected')
        run(['ninja', '-C', 'build'], cwd=v.mnt, limit_sec=120)
        true('enflame' in run([v.path('build/bin/triton-report')]).stdout, 'the program runs')
        equal(changes(v), 1, 'changes that the daemon was asked for: the mkdir')
        true('no work to do' in run(['ninja', '-C', 'build'], cwd=v.mnt).stdout, 'a no-op build')
        equal(git(v.mnt, 'status', '--porcelain', 'build'), '', 'git status of the build directory')
        v.write('CMakeLists.txt', v.read('CMakeLists.txt') + b'\n')
        true('Re-running CMake' in run(['ninja', '-C', 'build'], cwd=v.mnt, limit_sec=120).stdout,
             'an edit is seen')
        v.remount()
        equal(redirects(v)['build'], 'bind', 'after a remount')
        true('no work to do' in run(['ninja', '-C', 'build'], cwd=v.mnt).stdout,
             'what was built is there')


def cmake_dot_dot_works():
    need_bind()
    need_program('cmake')
    need_program('ninja')
    with View('flagtree-mini', 'enflame') as v:
        run(['sh', '-ec', 'mkdir build && cd build && cmake -G Ninja .. --log-level=ERROR'
             ' && ninja && cd .. && build/bin/triton-report'], cwd=v.mnt, limit_sec=120)
        equal(changes(v), 1, 'changes that the daemon was asked for: the mkdir')


def who_enters_at_once_is_in():
    need_bind()
    with View('flagtree-mini', 'enflame') as v:
        code = ('import os, sys\n'
                'os.mkdir(sys.argv[1]); os.chdir(sys.argv[1]); open("x", "w").close()\n'
                'print(os.stat(".").st_dev)\n')
        for rel in ('build', 'python/build'):
            p = run([sys.executable, '-c', code, v.path(rel)])
            true(int(p.stdout) != os.stat(v.mnt).st_dev, f'{rel}: the maker is out of the mount')
            equal(os.listdir(v.path(rel)), ['x'], rel)
        equal(status(v)['requests'].get('create', 0), 0, 'files that the daemon has made')


def a_virtual_environment_is_made_in_it():
    need_bind()
    with View('flagtree-mini', 'enflame') as v:
        v.cli('redirect', 'add', v.mnt, 'build-venv')
        before = changes(v)
        run([sys.executable, '-m', 'venv', '--without-pip', v.path('build-venv')], limit_sec=120)
        p = run([v.path('build-venv/bin/python'), '-c', 'import sys; print(sys.prefix)'])
        equal(p.stdout.strip(), v.path('build-venv'), 'prefix')
        equal(changes(v), before, 'changes that the daemon was asked for')


def edges_are_those_of_a_file_system():
    need_bind()
    with View('flagtree-mini', 'enflame') as v:
        os.mkdir(v.path('build'))
        v.write('build/x', b'x')
        fails(18, os.rename, v.path('build/x'), v.path('x.o'))
        fails(18, os.link, v.path('build/x'), v.path('x.o'))
        fails(18, os.rename, v.path('CMakeLists.txt'), v.path('build/CMakeLists.txt'))
        run(['mv', v.path('build/x'), v.path('build-y')])
        equal(v.read('build-y'), b'x', 'mv copies')
        for call in (lambda: os.rmdir(v.path('build')),
                     lambda: os.rename(v.path('build'), v.path('build2'))):
            fails(16, call)
        os.mkdir(v.path('python/build'))
        fails(16, os.rename, v.path('python'), v.path('py'))
        fails(16, os.rmdir, v.path('python/build'))


def removing_empties_it():
    need_bind()
    with View('flagtree-mini', 'enflame') as v:
        os.makedirs(v.path('build/deep/er'))
        v.write('build/deep/x', b'x')
        p = run(['rm', '-rf', 'build'], cwd=v.mnt, ok=(1, ))
        true('busy' in p.stderr, f'rm says: {p.stderr!r}')
        equal(v.listdir('build'), [], 'after rm -rf')
        v.write('build/y', b'y')
        p = run(['git', '-c', 'safe.directory=*', 'clean', '-fdXq', 'build'], cwd=v.mnt, ok=None)
        equal((v.listdir('build'), is_out(v, 'build')), ([], True), f'after git clean: {p.stderr}')
        run(['mkdir', '-p', v.path('build/again')])
        # empty directories of the profile go with the mount
        os.rmdir(v.path('build/again'))
        v.umount()
        equal(os.listdir(os.path.join(v.scratch, 'upper')), [], 'what is left in scratch')


def noexec_holds_in_it():
    need_bind()
    with View('flagtree-mini', 'enflame', opts=['-o', 'noexec']) as v:
        os.mkdir(v.path('build'))
        v.write('build/run', b'#!/bin/sh\n')
        os.chmod(v.path('build/run'), 0o4755)
        try:
            subprocess.run([v.path('build/run')], check=True)
        except PermissionError:
            return
        raise AssertionError('a program can be run')


def two_views_build_apart():
    need_bind()
    with View('flagtree-mini', 'enflame') as a, View(root=a.root, backend='mthreads') as b:
        for v, text in ((a, b'a'), (b, b'b')):
            os.mkdir(v.path('build'))
            v.write('build/who', text)
        equal((a.read('build/who'), b.read('build/who')), (b'a', b'b'), 'what each has')
        equal(read_file(os.path.join(a.scratch, 'upper/build/who')), b'a', 'in scratch')


main(cmake_and_ninja_write_past_the_mount, cmake_dot_dot_works, who_enters_at_once_is_in,
     a_virtual_environment_is_made_in_it, edges_are_those_of_a_file_system, removing_empties_it,
     noexec_holds_in_it, two_views_build_apart)
