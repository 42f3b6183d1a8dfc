# SPDX-License-Identifier: MIT
"""FlagTree's installation runs unmodified in the mount and never touches a layer.

setup.py unlinks or deletes what the view shows at its link places, puts absolute links there,
writes the marker, and builds a library into the package.
"""
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from mounted import View, clean_env, equal, git, main, need_program, run, snapshot, true
from pythons import pip_install, python_with, venv
from seedtree import HOOKED, PLAIN, expected, found_specialized, probe, specialized_modules

BACKENDS = ('mthreads', 'enflame')


def setup(python, v, *words):
    """python setup.py WORDS in the mount's python directory"""
    run([python, 'setup.py', *words], cwd=v.path('python'),
        env=clean_env(FLAGTREE_BACKEND=v.backend), limit_sec=300)


def check_untouched(v, before):
    """The checkout is as it was, for git and byte by byte; the view shows the installation."""
    equal(git(v.root, 'status', '--porcelain', '--ignored'), '', 'git status of the checkout')
    after = snapshot(v.root)
    equal(sorted(set(before) ^ set(after)), [], 'names that came or went in the checkout')
    equal([p for p in before if before[p] != after[p]], [], 'paths of the checkout that changed')
    equal(v.read('python/triton/FLAGTREE_BACKEND'), v.backend.encode(),
          'marker after the installation')
    link = f'python/triton/backends/{v.backend}'
    true(v.exists(link + '/driver.py'), f'{link}/driver.py is there after the installation')


def removing_and_linking_as_setup_does():
    for tree in (PLAIN, HOOKED):
        with View(tree, 'mthreads') as v:
            before = snapshot(v.root)
            view = expected.FLAGTREE_MINI['mthreads']
            for at, target in list(view['grafts'].items()) + list(view['links'].items()):
                for _ in range(2):
                    path = v.path(at)
                    if os.path.islink(path):
                        os.unlink(path)
                    else:
                        shutil.rmtree(path)
                    true(not v.exists(at), f'{at} is gone after its removal')
                    os.symlink(v.path(target), path)
                    equal(os.readlink(path), v.path(target), f'{at}: the link just made')
                    equal(v.listdir(at), sorted(os.listdir(os.path.join(v.root, target))),
                          f'{at}: through the link')
            check_untouched(v, before)
            v.remount()
            equal(os.readlink(v.path('python/triton/backends/mthreads')),
                  v.path('third_party/mthreads/backend'), 'the link after a remount')
            check_untouched(v, before)


def the_marker_can_be_rewritten():
    with View(PLAIN, 'mthreads') as v:
        before = snapshot(v.root)
        for text in ('mthreads', 'other', ''):
            with open(v.path('python/triton/FLAGTREE_BACKEND'), 'w') as f:
                f.write(text)
            equal(v.read('python/triton/FLAGTREE_BACKEND'), text.encode(), 'marker')
        os.unlink(v.path('python/triton/FLAGTREE_BACKEND'))
        with open(v.path('python/triton/FLAGTREE_BACKEND'), 'w') as f:
            f.write('mthreads')
        check_untouched(v, before)


def deleting_below_a_graft_deletes_nothing():
    with View(PLAIN, 'mthreads') as v:
        before = snapshot(v.root)
        os.unlink(v.path('python/triton/backends/mthreads/driver.py'))
        true(not v.exists('python/triton/backends/mthreads/driver.py'),
             'the name is gone in the view')
        true(v.exists('third_party/mthreads/backend/driver.py'), 'and still at its own place')
        equal(snapshot(v.root), before, 'the checkout')


def setup_twice_for_two_backends():
    python = python_with('setuptools')
    with View(PLAIN, BACKENDS[0]) as a, View(root=a.root, backend=BACKENDS[1]) as b:
        before = snapshot(a.root)
        for _ in range(2):
            for v in (a, b):
                setup(python, v, 'egg_info')
                setup(python, v, 'build_py')
        for v in (a, b):
            check_untouched(v, before)
            true(os.path.islink(v.path(f'python/triton/backends/{v.backend}')),
                 'setup.py made its link')
            equal(found_specialized(probe(v.mnt), PLAIN, v.backend),
                  specialized_modules(PLAIN, v.backend), v.backend)


def install(python, v):
    """pip install -e, with the native module"""
    pip_install(python, '-e', v.path('python'), cwd=v.tmp, FLAGTREE_BACKEND=v.backend,
                TRITON_BUILD_EXT='1')


def pip_installs_editable_with_a_library():
    system_python = python_with('pip', 'setuptools', 'wheel')
    need_program('cmake', 'ninja', 'cc', 'c++')
    with View(HOOKED, BACKENDS[0]) as a, View(root=a.root, backend=BACKENDS[1]) as b:
        before = snapshot(a.root)
        for v in (a, b):
            python = venv(system_python, os.path.join(v.tmp, 'venv'))
            install(python, v)
            install(python, v)
            imports = 'import triton, triton.backends as b; print(triton.__file__, *b.backends)'
            said = run([python, '-c', imports], cwd='/', env=clean_env()).stdout.split()
            equal(said, [v.path('python/triton/__init__.py'), v.backend],
                  'what an installed Python imports')
            true(os.path.isfile(v.path('python/triton/_C/libtriton.so')),
                 'the library is in the view')
        for v in (a, b):
            check_untouched(v, before)
            report = 'import ctypes, sys; ctypes.CDLL(sys.argv[1]).triton_report()'
            said = run([sys.executable, '-c', report, v.path('python/triton/_C/libtriton.so')],
                       env=clean_env()).stdout.splitlines()
            equal(dict(line.rsplit(': ', 1) for line in said),
                  expected.build_output(PLAIN, v.backend), 'the library')


main(removing_and_linking_as_setup_does, the_marker_can_be_rewritten,
     deleting_below_a_graft_deletes_nothing, setup_twice_for_two_backends,
     pip_installs_editable_with_a_library)
