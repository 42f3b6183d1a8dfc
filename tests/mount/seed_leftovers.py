# SPDX-License-Identifier: MIT
"""What native use left behind in the checkout is not in any view."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from mounted import View, equal, git, main, true, write_file
from seedtree import (HOOKED, PLAIN, check_view, found_specialized, probe, specialized_modules,
                      view_table)

FILES = {
    'python/triton/FLAGTREE_BACKEND': 'nvidia',
    'python/triton/__pycache__/testing.cpython-311.pyc': 'stale',
    'python/triton/tools/__pycache__/compile.cpython-311.pyc': 'stale',
    'third_party/mthreads/spec/triton/tools/__pycache__/compile.cpython-311.pyc': 'stale',
    'third_party/mthreads/backend/__pycache__/driver.cpython-311.pyc': 'stale',
    'python/triton/_C/libtriton.so': 'native build of another backend',
    'build/CMakeCache.txt': 'native build',
    'python/build/lib/x': 'native build',
    'python/triton_mini.egg-info/PKG-INFO': 'native installation',
}
LINKS = {
    'compile_commands.json': 'python/build/cmake/compile_commands.json',
    'python/triton/backends/nvidia': 'third_party/nvidia/backend',
    'python/triton/backends/mthreads': 'third_party/mthreads/backend',
    'python/triton/backends/gone': 'third_party/gone/backend',
    'python/triton/language/extra/cuda': 'third_party/nvidia/language/cuda',
    'python/triton/tools/extra/cuda': 'third_party/nvidia/tools/cuda',
}

# a directory of the checkout that is shown, though nothing that is in it is
BARE = 'python/triton/tools/extra'


def leave_behind(root):
    """What an installation for another backend leaves: absolute links, marker, caches, library."""
    for path, data in FILES.items():
        write_file(os.path.join(root, path), data)
    for path, target in LINKS.items():
        os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
        os.symlink(os.path.join(root, target), os.path.join(root, path))


def check(tree, backend):
    want = {}

    def dirty(root):
        want.update(view_table(root, tree, backend))
        leave_behind(root)

    with View(tree, backend, dirty=dirty) as v:
        want.setdefault(BARE, ('dir', ))
        check_view(v, want)
        equal(found_specialized(probe(v.mnt), tree, backend), specialized_modules(tree, backend),
              'imported modules')
        for path in list(FILES) + list(LINKS):
            true(os.path.lexists(os.path.join(v.root, path)), f'{path} is still in the checkout')
        equal(git(v.root, 'status', '--porcelain'), '', 'git status of the checkout')


def of_another_backend_in_a_plain_trunk():
    check(PLAIN, 'mthreads')


def of_another_backend_in_flagtrees_trunk():
    check(HOOKED, 'iluvatar')


def of_the_same_backend():
    check(PLAIN, 'nvidia')


main(of_another_backend_in_a_plain_trunk, of_another_backend_in_flagtrees_trunk,
     of_the_same_backend)
