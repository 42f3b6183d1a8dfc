# SPDX-License-Identifier: MIT
"""No mount: the sample packages import, and FlagTree's own Python hooks specialize them.

An installation is imitated by hand: the marker and the links that setup.py would make.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from mounted import TempDir, copy_tree, equal, main, write_file
from seedtree import (HOOKED, OLDER, PLAIN, PYTHON_BACKENDS, base_tree, entries, expected,
                      found_specialized, probe, specialized_modules)


def installed(tmp, tree, backend, name='src'):
    src = os.path.join(tmp, name)
    copy_tree(tree, src)
    if backend:
        write_file(os.path.join(src, 'python/triton/FLAGTREE_BACKEND'), backend)
        view = expected.VIEWS[base_tree(tree)][backend]
        for at, origin in list(view['links'].items()) + list(view['grafts'].items()):
            link = os.path.join(src, at)
            if not os.path.lexists(link):
                os.makedirs(os.path.dirname(link), exist_ok=True)
                os.symlink(os.path.join(src, origin), link)
    return src


def without_backend_everything_is_the_trunks():
    for tree in (PLAIN, HOOKED, OLDER):
        with TempDir() as tmp:
            found = probe(installed(tmp, tree, None))
            equal(found['failed'], {}, f'{tree}: modules that could not be imported')
            equal(found_specialized(found, tree, None), {}, f'{tree}: specialized modules')
            if tree != OLDER:
                equal(found['hooks'], expected.HOOKS[''], f'{tree}: answers of the hooks')


def check(tree, backend):
    with TempDir() as tmp:
        want = specialized_modules(tree, backend)
        found = probe(installed(tmp, tree, backend), want)
        equal(found['failed'], {}, f'{backend}: modules that could not be imported')
        equal(found['marker'], backend, f'{backend}: the marker')
        equal(found_specialized(found, tree, backend), want, f'{backend}: specialized modules')
        if tree == HOOKED:
            equal(found['hooks'], expected.HOOKS[backend], f'{backend}: answers of the hooks')


def the_hooked_trunk_finds_each_backends_files():
    for backend in PYTHON_BACKENDS:
        check(HOOKED, backend)


def the_older_layout_finds_each_backends_files():
    for backend in expected.BACKEND_SPEC_MINI:
        check(OLDER, backend)


def an_earlier_triton_in_the_path_breaks_flagtrees_own_hook():
    with TempDir() as tmp:
        found = probe(installed(tmp, HOOKED, 'iluvatar', 'triton-work/src'))
        equal(found['origins']['triton.backends.compiler'], 'trunk',
              'backends/compiler.py below triton-work/')
        equal(found['hooks']['nvsmi'], ['iluvatar', 'iluvatar'],
              'the provider is found all the same')


def the_trees_hold_no_left_overs():
    for tree in (PLAIN, HOOKED, OLDER):
        with TempDir() as tmp:
            copy_tree(tree, os.path.join(tmp, 'src'))
            names = {os.path.basename(p) for p in entries(os.path.join(tmp, 'src'))}
            equal(names & {'FLAGTREE_BACKEND', '__pycache__', '.git', 'build'}, set(),
                  f'{tree}: left-overs')


main(without_backend_everything_is_the_trunks, the_hooked_trunk_finds_each_backends_files,
     the_older_layout_finds_each_backends_files,
     an_earlier_triton_in_the_path_breaks_flagtrees_own_hook, the_trees_hold_no_left_overs)
