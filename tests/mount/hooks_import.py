# SPDX-License-Identifier: MIT
"""A trunk that never asks for hooks is specialized by the import hook that the profile asks for."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from hooktree import backend, profile, python, pythons, trunk
from mounted import View, equal, main, true

INIT = 'python/triton/__init__.abi3.so'
TRUNK = trunk({
    '__init__.py': '"""Trunk."""\n'
                   'from . import testing, runtime, user\n'
                   'def version(): return "trunk"\n',
    'testing.py': 'def nvsmi(): return "trunk nvsmi"\n'
                  'def tflops(): return "trunk tflops"\n'
                  'def both(): return nvsmi(), tflops()\n',
    'user.py': 'from triton.testing import nvsmi, both\n'
               'def use(): return nvsmi(), *both()\n',
    'runtime/__init__.py': 'from .cache import ORIGIN\ndef hint(): return "trunk hint"\n',
    'runtime/cache.py': 'ORIGIN = "trunk cache"\n',
})
DEMO = backend('demo', {
    'testing.py': 'def nvsmi(): return "demo nvsmi"\n',
    'runtime/__init__.py': 'def hint(): return "demo hint"\n',
    'runtime/cache.py': 'ORIGIN = "demo cache"\n',
})
TREE = {**TRUNK, **DEMO, **profile(**{'import': 'yes'})}
ASK = ('import triton\n'
       'print(*triton.user.use(), triton.runtime.hint(), triton.runtime.ORIGIN, sep=" / ")\n'
       'print(triton.__file__, triton.__doc__, triton.version(), triton.__spec__.origin)\n')
BOUND = 'demo nvsmi / demo nvsmi / trunk tflops / demo hint / demo cache'
FILES_ONLY = 'trunk nvsmi / trunk nvsmi / trunk tflops / trunk hint / demo cache'
PLAIN = 'trunk nvsmi / trunk nvsmi / trunk tflops / trunk hint / trunk cache'


def answers(v, exe=sys.executable, **env):
    return python(v.mnt, ASK, exe, **env).stdout.split('\n')


def every_python_binds_the_backends_functions():
    with View(TREE, 'demo') as v:
        for exe in pythons():
            out = answers(v, exe)
            equal(out[0], BOUND, f'{exe}: what ran')
            source = v.path('python/triton/__init__.py')
            equal(out[1], f'{source} Trunk. trunk {source}', f'{exe}: the package itself')


def the_environment_switches_it_off():
    with View(TREE, 'demo') as v:
        equal(answers(v, SPECFS_IMPORT_HOOK='0')[0], FILES_ONLY, 'what ran')


def the_profile_switches_it_on():
    with View({**TREE, **profile(**{'import': 'no'})}, 'demo') as v:
        true(not v.exists(INIT), 'no __init__.abi3.so')
        equal(answers(v)[0], FILES_ONLY, 'what ran')


def without_backend_nothing_is_bound():
    with View(TREE) as v:
        true(not v.exists(INIT), 'no __init__.abi3.so')
        equal(answers(v)[0], PLAIN, 'what ran')


def the_checkout_itself_stays_plain():
    with View(TREE, 'demo') as v:
        equal(python(v.root, ASK).stdout.split('\n')[0], PLAIN, 'what ran outside the mount')
        true(not os.path.exists(os.path.join(v.root, INIT)), 'nothing was put there')


def an_edit_of_a_provider_is_seen_by_the_next_process():
    with View(TREE, 'demo') as v:
        equal(answers(v)[0], BOUND, 'before')
        path = os.path.join(v.root, 'third_party/demo/spec/triton/testing.py')
        with open(path, 'w') as f:
            f.write('def nvsmi(): return "newer nvsmi"\n')
        true(answers(v)[0].startswith('newer nvsmi / newer nvsmi'), 'after')


def reload_and_subprocess_see_them():
    code = ('import importlib, subprocess, sys, triton\n'
            'importlib.reload(triton.testing)\n'
            'print(triton.testing.nvsmi())\n'
            'print(subprocess.run([sys.executable, "-c", "import triton.testing as t;"\n'
            '      "print(t.nvsmi())"], capture_output=True, text=True).stdout, end="")\n')
    with View(TREE, 'demo') as v:
        equal(python(v.mnt, code).stdout, 'demo nvsmi\ndemo nvsmi\n', 'after a reload, in a child')


def trunk_that_calls_hooks_may_have_both():
    calls = trunk({'asks.py': 'from triton._flagtree_spec import spec_func\n'
                              'found = spec_func("nvsmi")()\n'})
    both = profile(**{'import': 'yes', 'supply': 'yes'})
    provider = backend('demo', {'__init__.py': 'from .testing import nvsmi\n'})
    with View({**TREE, **calls, **both, **provider}, 'demo') as v:
        out = python(v.mnt, 'import triton.asks\n'
                            'print(triton.asks.found, triton.testing.nvsmi())\n').stdout
        equal(out, 'demo nvsmi demo nvsmi\n', 'asked for, and bound')


main(every_python_binds_the_backends_functions, the_environment_switches_it_off,
     the_profile_switches_it_on, without_backend_nothing_is_bound,
     the_checkout_itself_stays_plain, an_edit_of_a_provider_is_seen_by_the_next_process,
     reload_and_subprocess_see_them, trunk_that_calls_hooks_may_have_both)
