# SPDX-License-Identifier: MIT
"""Show on a GPU that a mounted checkout of Triton runs a backend's specializations.

    scripts/gpu-demo [--from DIR] [--runs N] [--work DIR] [--json FILE] [--keep]
    scripts/gpu-demo --pack DIR [--build DIR]

The installed Triton's Python package becomes the trunk of a checkout, which knows of no backend.
A demo backend beside it specializes a whole file, a function and exports a symbol. The checkout is
mounted with specfs; a vector addition and a matrix product that know nothing of it are compiled and
run on the GPU from inside the mount, and compared with the same checkout without specfs.

With --pack, run where specfs was built, the program and the libraries it needs are put into DIR;
with --from they are taken from there, and nothing of specfs need be installed.
Exit status 0: everything that was looked at is as it should be; 1: something is not; 2: something
could not be run.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys

from .pack import PackError, newest_build, pack, unpacked
from .steps import (STANDARD, TREE, DemoError, Mount, describe_machine, fingerprint, make_checkout,
                    run_child, say, step, tail, work_directory)

SHOWN = ('import triton', 'vector add, compile', 'vector add, first launch', 'matmul, compile',
         'matmul, first launch', 'matmul, next launch', 'the whole program')
MAX_ERROR = {'vector add': 1e-6, 'matmul': 1e-2, 'relu': 0}


class Checks:
    """What was looked at, and what of it was not as expected."""

    def __init__(self):
        self.failed = 0

    def holds(self, what, is_so, seen):
        print(f'   {"ok  " if is_so else "FAIL"} {what}: {seen}', flush=True)
        self.failed += not is_so


def find_program(options):
    """(program, environment) of specfs"""
    if options.packed:
        return unpacked(options.packed)
    program = os.environ.get('SPECFS_BIN') or shutil.which('specfs')
    if not program:
        build = newest_build(TREE)
        program = os.path.join(build, 'fs/cli/specfs')
    return program, {}


def show_program(program, env):
    p = subprocess.run([program, '--version'], env={**os.environ, **env}, capture_output=True,
                       text=True)
    if p.returncode:
        raise DemoError(f'{program} does not run here\n{tail(p.stdout + p.stderr)}')
    say(f'{p.stdout.strip()}, {program}')


def check_native(checks, told):
    checks.holds('the trunk knows of no backend',
                 (told['whole_file'], told['hook_module'], told['symbol'])
                 == (None, 'triton._utils', None),
                 f'language/standard.py plain, validate_block_shape of {told["hook_module"]}, '
                 'no tl.demo_relu')


def check_mounted(checks, mount, told, native):
    below = mount.at + '/python/triton/'
    checks.holds('Triton comes from the mount', told['triton'] == below + '__init__.py',
                 told['triton'])
    checks.holds('a whole file is the backend\'s', told['whole_file'] == 'demo',
                 f'language/standard.py says {told["whole_file"]!r}')
    checks.holds('its code is in the compiled matmul',
                 told['remainders'] > native['remainders']
                 and told['standard'] == [below + STANDARD],
                 f'{told["remainders"]} remainder operations, natively {native["remainders"]}; '
                 f'from {", ".join(told["standard"]) or "nowhere"}')
    checks.holds('a function is bound over the trunk\'s',
                 told['hook_module'] == 'triton.spec.demo.triton._utils' and told['hook_calls'],
                 f'validate_block_shape of {told["hook_module"]}, called {told["hook_calls"]} times'
                 ' by the compiler')
    checks.holds('a symbol is exported', told['symbol'] == 'triton.language.extra.demo',
                 f'tl.demo_relu of {told["symbol"]}')
    for name, error in told['errors'].items():
        checks.holds(f'{name} on the GPU gives what PyTorch gives', error <= MAX_ERROR[name],
                     f'largest relative difference {error:.2g}, at most {MAX_ERROR[name]:g}')


def show_origins(checks, mount):
    for rel, want in ((f'python/triton/{STANDARD}', 'demo map python '),
                      ('python/triton/language/core.py', 'trunk '),
                      ('python/triton/__init__.abi3.so', 'hooks ')):
        origin = os.getxattr(os.path.join(mount.at, rel), 'user.specfs.origin').decode()
        checks.holds(rel, origin.startswith(want), origin)
    print(tail(mount.specfs('which', os.path.join(mount.at, 'python/triton', STANDARD))))
    print(tail(mount.specfs('which', '-b', 'demo', '-C', mount.root,
                            'triton._utils:validate_block_shape')))


def measure(mount, work, runs):
    """Native and mounted runs in turns; {where: [what each told]}"""
    told = {'native': [], 'mount': []}
    places = [('native', mount.root), ('mount', mount.at)]
    for i in range(runs):
        for name, tree in places if i % 2 == 0 else places[::-1]:
            told[name].append(run_child(tree, os.path.join(work, 'cache')))
            seconds = told[name][-1]['seconds']
            say(f'run {i + 1} {name:7} import {seconds["import triton"]:6.3f} s, vector add '
                f'{seconds["vector add, compile"]:6.3f} s, matmul '
                f'{seconds["matmul, compile"]:6.3f} s')
    return told


def median(told, where, what):
    return statistics.median(t['seconds'][what] for t in told[where])


def show_table(told):
    print(f'   {"median, milliseconds":28} {"native":>10} {"mount":>10} {"ratio":>7}')
    for what in SHOWN:
        native, mounted = (median(told, where, what) * 1000 for where in ('native', 'mount'))
        print(f'   {what:28} {native:10.1f} {mounted:10.1f} {mounted / native:7.2f}')


def demo(options):
    checks = Checks()
    step('the machine')
    describe_machine()
    program, env = find_program(options)
    show_program(program, env)
    work = work_directory(options.work)
    try:
        return run_demo(options, checks, program, env, work)
    finally:
        if options.keep:
            say(f'kept: {work}')
        else:
            shutil.rmtree(work, ignore_errors=True)


def run_demo(options, checks, program, env, work):
    step('a checkout of the installed Triton, with a demo backend beside it')
    root = make_checkout(work)

    step('the kernels without specfs')
    native = run_child(root, os.path.join(work, 'cache'))
    say(f'{native["gpu"]}, torch {native["torch"]}, triton {native["version"]}')
    check_native(checks, native)
    before = fingerprint(root)

    step('the checkout mounted for the demo backend')
    with Mount(program, env, root, work) as mount:
        try:
            show_origins(checks, mount)
            step('the same kernels inside the mount')
            mounted = run_child(mount.at, os.path.join(work, 'cache'), '--all')
            check_mounted(checks, mount, mounted, native)
            say(f'the first import of triton took {mounted["seconds"]["import triton"]:.2f} s, '
                f'natively {native["seconds"]["import triton"]:.2f} s')
            step(f'times: {options.runs} runs each, in turns, each with an empty kernel cache')
            told = measure(mount, work, options.runs)
        except Exception:
            say('what the daemon said:\n' + mount.log_tail())
            raise
    step('unmounted')
    checks.holds('nothing is mounted any more', not os.path.ismount(mount.at), mount.at)
    checks.holds('the daemon ended well', mount.daemon.returncode == 0,
                 f'exit status {mount.daemon.returncode}')
    checks.holds('the checkout is as it was', fingerprint(root) == before,
                 'names, sizes, times and contents')

    if checks.failed:
        say('what the daemon said:\n' + mount.log_tail())
    step('result')
    show_table(told)
    if options.json:
        with open(options.json, 'w', encoding='utf-8') as f:
            json.dump({'native': native, 'mounted': mounted, 'runs': told,
                       'failed': checks.failed}, f, indent=1)
    print()
    if checks.failed:
        print(f'Not everything is as it should be: {checks.failed} of the checks above failed.')
        return 1
    ratio = median(told, 'mount', 'matmul, compile') / median(told, 'native', 'matmul, compile')
    print(f'''An unmodified Triton {native["version"]} ran on {native["gpu"]} from inside a specfs
mount, as the demo backend sees it: language/standard.py was the backend's file, the function
validate_block_shape and the symbol tl.demo_relu were the backend's, the results are PyTorch's.
Compiling the matrix product took {ratio:.2f} times what it takes without specfs.''')
    return 0


def main():
    parser = argparse.ArgumentParser(prog='gpu-demo', description=__doc__, usage=argparse.SUPPRESS,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--from', dest='packed', metavar='DIR', help='what --pack made')
    parser.add_argument('--pack', metavar='DIR', help='make DIR for --from, then stop')
    parser.add_argument('--build', metavar='DIR', help='with --pack: the build directory; by '
                        'default the newest below build*/ of this source tree')
    parser.add_argument('--runs', type=int, default=5, metavar='N',
                        help='measured runs of each kind (5)')
    parser.add_argument('--work', metavar='DIR', help='work below DIR, not a temporary directory')
    parser.add_argument('--json', metavar='FILE', help='write all that was measured to FILE')
    parser.add_argument('--keep', action='store_true', help='keep checkout, scratch and log')
    options = parser.parse_args()
    if options.runs < 1:
        parser.error('--runs: expected a number of at least 1')
    try:
        if options.pack:
            build = options.build or newest_build(TREE)
            print(f'packing {build}')
            pack(TREE, build, options.pack)
            return 0
        return demo(options)
    except (DemoError, PackError, OSError) as e:
        print(f'gpu-demo: {e}', file=sys.stderr)
        return 2


sys.exit(main())
