# SPDX-License-Identifier: MIT
"""`specfs run`: a build and an import at the checkout's own path, with nothing set up for it."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from hooktree import backend, profile, trunk
from mounted import equal, main, need_program, true
from runplace import Place
from seedtree import PLAIN, compare_report, expected

TREE = {
    **trunk({
        '__init__.py': 'from . import testing, user\n',
        'testing.py': 'def nvsmi(): return "trunk"\ndef tflops(): return "trunk"\n',
        'user.py': 'from triton.testing import nvsmi, tflops\n',
    }),
    **backend('demo', {'testing.py': 'def nvsmi(): return "demo"\n'}),
}
ASK = ('import triton.user\n'
       'print(triton.user.nvsmi(), triton.user.tflops(), triton.__file__)\n')
BUILD = 'cmake -G Ninja -S . -B build > /dev/null && ninja -j2 -C build'


def build_and_report(v):
    said = v.see('sh', '-ec', BUILD, limit_sec=300).stdout
    out = v.see('sh', '-ec', 'p=build/bin/triton-report; test -x $p || p=build/triton-report; $p')
    return said, dict(line.rsplit(': ', 1) for line in out.stdout.splitlines())


def two_backends_build_at_one_path():
    need_program('cmake', 'ninja', 'cc', 'c++')
    with Place(PLAIN, 'enflame') as v:
        for name in ('enflame', 'ppu'):
            v.backend = name
            compare_report(build_and_report(v)[1], expected.build_output(PLAIN, name), name)
        v.backend = 'enflame'
        true('no work to do' in build_and_report(v)[0], 'a later run has nothing to build')
        equal(v.git('status', '--porcelain', '--ignored'), '', 'git status of the checkout')
        v.nothing_is_left()


def imports(v):
    v.env['PYTHONPATH'] = os.path.join(v.root, 'python')
    return v.see(sys.executable, '-B', '-c', ASK).stdout.split()


def the_import_hook_is_on_where_the_profile_says_so():
    for key, want in (('yes', 'demo'), ('no', 'trunk')):
        with Place({**TREE, **profile(**{'import': key})}, 'demo') as v:
            at = os.path.join(v.root, 'python/triton/__init__.py')
            equal(imports(v), [want, 'trunk', at], f'import = {key}')
            equal(v.git('status', '--porcelain', '--ignored'), '', 'git status of the checkout')


main(two_backends_build_at_one_path, the_import_hook_is_on_where_the_profile_says_so)
