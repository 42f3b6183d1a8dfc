# SPDX-License-Identifier: MIT
"""What build tools hold a file system to: times that stand still and agree with what they noted,
programs that run once they are written, copies and links of products, one path for each file."""
import json
import os
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from children import forget  # noqa: E402
from daemontree import PLACES, SPEC, view  # noqa: E402
from loopfs import LoopFs  # noqa: E402
from mounted import (View, commit_all, equal, main, make_tree, need_program,  # noqa: E402
                     read_file, run, true, wait_for, write_file)

PROJECT = {
    '.gitignore': 'build/\n',
    'CMakeLists.txt': 'cmake_minimum_required(VERSION 3.13)\nproject(p C)\n'
                      'set(CMAKE_EXPORT_COMPILE_COMMANDS ON)\n'
                      'include_directories(include)\n'
                      'add_executable(gen tools/gen.c)\n'
                      'add_custom_command(OUTPUT made.c COMMAND gen made.c DEPENDS gen)\n'
                      'add_executable(app lib/main.c lib/spec.c made.c)\n'
                      'install(TARGETS app DESTINATION bin)\n',
    'tools/gen.c': '#include <stdio.h>\nint main(int c, char **v) { FILE *f = fopen(v[1], "w");\n'
                   'fputs("int made(void) { return 3; }\\n", f); return c - 2 + fclose(f); }\n',
    'include/both.h': '#define WHO 1\n',
    'lib/main.c': '#include "both.h"\nint made(void); int spec(void);\n'
                  'int main(void) { return WHO * 100 + spec() * 10 + made(); }\n',
    'lib/spec.c': 'int spec(void) { return 1; }\n',
    SPEC + '/both.h': '#define WHO 2\n',
    'third_party/b/spec_cpp/lib/spec.c': 'int spec(void) { return 4; }\n',
}


def project(**kw):
    need_program('cmake', 'ninja', 'cc')
    return View(PROJECT, 'b', opts=['-p', 'flagtree'], **kw)


def configure(v, build='build'):
    run(['cmake', '-G', 'Ninja', '-S', v.mnt, '-B', v.path(build)], limit_sec=200)


def ninja(v, *words, build='build'):
    return run(['ninja', '-C', v.path(build), *words], limit_sec=200).stdout


def nothing_to_do(v, what):
    said = ninja(v)
    true('no work to do' in said, f'{what}: {said[-300:]} {ninja(v, "-n", "-d", "explain")[-500:]}')


def no_build_is_repeated():
    """After a build, after forgetting, after a remount, and by whoever looks: no work to do."""
    with project() as v:
        configure(v)
        ninja(v)
        equal(run([v.path('build/app')], ok=None).returncode, (2 * 100 + 43) % 256, 'what it says')
        nothing_to_do(v, 'at once')
        forget()
        nothing_to_do(v, 'after the kernel forgot')
        v.remount()
        nothing_to_do(v, 'after a remount')
        os.utime(v.path('lib/main.c'))
        said = ninja(v)
        true('main.c' in said and 'spec.c' not in said, f'what is touched is built: {said}')
        nothing_to_do(v, 'and nothing else')
        with open(f'{v.root}/{SPEC}/both.h', 'a', encoding='utf-8') as f:
            f.write('/* edited underneath */\n')
        v.cli('sync', v.mnt)
        true('main.c' in ninja(v), 'what is edited underneath is built')
        nothing_to_do(v, 'and nothing else')


def times_agree_with_ninjas_own_log():
    """Field 3 of .ninja_log is the output's time as ninja saw it; from 1.12 on, its command's."""
    version = run(['ninja', '--version']).stdout.split('.')
    starts = [int(x) for x in version[:2]] >= [1, 12]
    with project() as v:
        configure(v)
        ninja(v)
        lines = v.read('build/.ninja_log').decode().splitlines()[1:]
        true(len(lines) > 5, 'lines of the log')
        for when in ('as they were logged', 'after the kernel forgot'):
            for line in lines:
                _, _, stamp, name, _ = line.split('\t')
                path = os.path.join(v.path('build'), name)
                if not os.path.exists(path) or not int(stamp):
                    continue
                saw = os.stat(path).st_mtime_ns
                true(starts and saw >= int(stamp) or saw == int(stamp),
                     f'{name}: {when}, {stamp} and not {saw}')
            forget()


def times_are_those_of_the_files():
    """Nothing has the time 0, or the time of now; a look twice gives the same."""
    with view() as v:
        os.mkdir(v.path('build'))
        seen = {}
        for base, dirs, files in os.walk(v.mnt):
            for name in dirs + files:
                path = os.path.join(base, name)
                seen[path] = os.lstat(path).st_mtime_ns
                true(seen[path] > 10**18, f'{path}: time {seen[path]}')
        root = os.stat(v.mnt).st_mtime_ns
        time.sleep(1.1)
        for path, ns in seen.items():
            equal(os.lstat(path).st_mtime_ns, ns, f'{path}: later')
        equal(os.stat(v.mnt).st_mtime_ns, root, 'the root, later')
        os.utime(f'{v.root}/doc/t.txt', (0, 0))
        wait_for(lambda: os.stat(v.path('doc/t.txt')).st_mtime_ns == 0, 'a time that is 0')


def layers_of_two_clocks():
    """Layers on two file systems: a new file is not of the future, nor older than one before."""
    with LoopFs('ext4', 40) as at:
        root = os.path.join(at, 'checkout')
        make_tree(PROJECT, root)
        commit_all(root)
        need_program('cmake', 'ninja', 'cc')
        with View(root=root, backend='b', opts=['-p', 'flagtree']) as v:
            os.mkdir(v.path('build'))
            last = 0
            for i in range(150):
                place = ('build', 'lib', 'include')[i % 3]
                v.write(f'{place}/stamp{i}', 'x')
                ns = os.stat(v.path(f'{place}/stamp{i}')).st_mtime_ns
                true(last <= ns <= time.time_ns(), f'{place}: {ns} after {last}')
                last = ns
            configure(v)
            ninja(v)
            nothing_to_do(v, 'on two file systems')


def what_was_just_written_runs():
    """No "text file busy": scripts, linked programs, and what a build generates and runs."""
    need_program('cc')
    with view() as v:
        os.mkdir(v.path('build'))
        v.write('build/p.c', 'int main(void) { return 5; }\n')
        for place in PLACES:
            for i in range(40):
                path = v.path(f'{place}/script')
                with open(path, 'w', encoding='utf-8') as f:
                    f.write(f'#!/bin/sh\nexit {i}\n')
                os.chmod(path, 0o755)
                equal(subprocess.call([path]), i, f'{place}: script {i}')
            for i in range(3):
                run(['cc', '-o', v.path(f'{place}/prog'), v.path('build/p.c')])
                equal(subprocess.call([v.path(f'{place}/prog')]), 5, f'{place}: program {i}')
                shutil.copy(v.path(f'{place}/prog'), v.path(f'{place}/copy'))
                equal(subprocess.call([v.path(f'{place}/copy')]), 5, f'{place}: its copy {i}')


def products_are_copied_and_linked():
    """Within a layer links work; across layers tools hear EXDEV and copy, never EPERM."""
    need_program('cp', 'ln', 'install')
    with view() as v:
        os.mkdir(v.path('build'))
        v.write('build/o.o', 'object\n')
        for place in PLACES:
            run(['ln', '-f', v.path('build/o.o'), v.path('build/linked.o')])
            p = run(['ln', '-f', v.path('build/o.o'), v.path(f'{place}/l.o')], ok=(0, 1))
            true(p.returncode == 0 or 'cross-device' in p.stderr, f'{place}: ln: {p.stderr}')
            p = run(['cp', '-l', v.path('doc/t.txt'), v.path(f'{place}/c.txt')], ok=(0, 1))
            true(p.returncode == 0 or 'cross-device' in p.stderr, f'{place}: cp -l: {p.stderr}')
            run(['install', '-m', '755', v.path('build/o.o'), v.path(f'{place}/i.o')])
            equal(v.read(f'{place}/i.o'), b'object\n', f'{place}: installed')
            equal(os.stat(v.path(f'{place}/i.o')).st_mode & 0o777, 0o755, f'{place}: mode')
            run(['cp', '-a', v.path('build'), v.path(f'{place}/tree')] if place != 'build' else
                ['cp', '-a', v.path('doc'), v.path('build/tree')])
            run(['rm', '-r', v.path(f'{place}/tree')])


def an_installed_program_runs():
    with project() as v:
        configure(v)
        ninja(v)
        run(['cmake', '--install', v.path('build'), '--prefix', v.path('build/out')])
        equal(run([v.path('build/out/bin/app')], ok=None).returncode, (2 * 100 + 43) % 256, 'it')
        need_program('git')
        equal(v.git('status', '--porcelain'), '', 'the checkout is as it was')


def each_file_has_one_path():
    """Of the view; the file in its layer is told by its origin and by `specfs which`."""
    with project() as v:
        configure(v)
        ninja(v)
        commands = json.loads(v.read('build/compile_commands.json'))
        true(len(commands) >= 4, 'compile commands')
        for c in commands:
            path = os.path.realpath(os.path.join(c['directory'], c['file']))
            true(path.startswith(v.mnt + '/'), f'{path} is in the mount')
        deps = ninja(v, '-t', 'deps')
        true(v.root + '/' not in deps, 'dependencies name nothing of the checkout')
        true(v.root not in v.read('build/app').decode('latin-1'), 'nor does the program')
        which = run([v.bin, 'which', v.path('lib/spec.c')], env=v.env).stdout
        real = f'{v.root}/third_party/b/spec_cpp/lib/spec.c'
        true(real in which, f'specfs which: {which}')
        true(real in v.origin('lib/spec.c'), v.origin('lib/spec.c'))


def debug_information_names_the_view():
    """A prefix map turns it into paths that hold without a mount, as README says."""
    need_program('cc', 'readelf')
    with project() as v:
        os.mkdir(v.path('build'))
        flag = f'-ffile-prefix-map={v.mnt}=.'
        for flags, want in (((), v.mnt), ((flag, ), './lib')):
            run(['cc', '-g', *flags, '-I', v.path('include'), '-c', v.path('lib/spec.c'), '-o',
                 v.path('build/d.o')])
            text = run(['readelf', '--debug-dump=info', v.path('build/d.o')]).stdout
            true(want in text, f'{flags}: {want} is named')
            equal(v.root in text, False, f'{flags}: nothing of the checkout')
        write_file(v.path('build/touch'), '')
        equal(read_file(v.path('build/touch')), b'', 'and the mount works')


main(no_build_is_repeated, times_agree_with_ninjas_own_log, times_are_those_of_the_files,
     layers_of_two_clocks, what_was_just_written_runs, products_are_copied_and_linked,
     an_installed_program_runs, each_file_has_one_path, debug_information_names_the_view)
