# SPDX-License-Identifier: MIT
"""Unmodified Python imports the specialized package from the mount, whatever the trunk calls."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from mounted import View, equal, git, main, true
from seedtree import (HOOKED, OLDER, PLAIN, check_imported_all, check_modules, each_view,
                      found_specialized, probe, specialized_modules, view_table)


def check(v):
    table = view_table(v.root, v.tree, v.backend)
    found = probe(v.mnt)
    check_imported_all(found, table)
    check_modules(found, v.mnt, table)
    equal(found_specialized(found, v.tree, v.backend), specialized_modules(v.tree, v.backend),
          f'{v.tree}, {v.backend}: specialized modules')
    equal(found['marker'], v.backend, f'{v.tree}: marker as Python reads it')
    equal(git(v.root, 'status', '--porcelain', '--ignored'), '',
          'git status of the checkout after the import')


def plain_trunk():
    each_view(PLAIN, check)


def trunk_with_hooks():
    each_view(HOOKED, check)


def older_layout():
    each_view(OLDER, check)


def byte_code_is_kept_per_backend():
    with View(PLAIN, 'mthreads') as a, View(root=a.root, backend='everywhere') as b:
        for _ in range(2):
            for v in (a, b):
                equal(found_specialized(probe(v.mnt), PLAIN, v.backend),
                      specialized_modules(PLAIN, v.backend), v.backend)
        for v in (a, b):
            true(v.exists('python/triton/language/__pycache__'),
                 f'{v.backend} has byte code of its own')
        true(not os.path.exists(os.path.join(a.root, 'python/triton/language/__pycache__')),
             'the checkout has none')


def a_tree_that_was_walked_before():
    """One file has a name in a map, in a graft and at its own place; each stays readable."""
    with View(HOOKED, 'mthreads') as v:
        for _ in os.walk(v.path('python'), followlinks=True):
            pass
        check(v)


main(plain_trunk, trunk_with_hooks, older_layout, byte_code_is_kept_per_backend,
     a_tree_that_was_walked_before)
