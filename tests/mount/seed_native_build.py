# SPDX-License-Identifier: MIT
"""No mount: the sample checkouts build, and FlagTree's own CMake functions specialize them.

What they give here is what the views are measured against: a fault of a sample shows here first.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from mounted import TempDir, copy_tree, equal, main
from seedtree import (CPP_BACKENDS, HOOKED, OLDER, PLAIN, base_tree, build_and_report,
                      compare_report, configure, expected, spec_lines)


def check(tree, backend, want_backend):
    with TempDir() as tmp:
        src, build = os.path.join(tmp, 'src'), os.path.join(tmp, 'build')
        copy_tree(tree, src)
        want = expected.build_output(base_tree(tree), want_backend, native=True)
        compare_report(build_and_report(src, build, backend), want,
                       f'{tree} built natively, backend "{backend}"')


def the_plain_tree_knows_no_backend():
    check(PLAIN, '', None)
    check(PLAIN, 'enflame', None)


def flagtree_functions_without_a_backend_do_nothing():
    check(HOOKED, '', None)


def flagtree_functions_specialize_the_build():
    for backend in CPP_BACKENDS + ('mthreads', ):
        check(HOOKED, backend, backend)


def configure_names_the_overridden_sources():
    for backend, lines in expected.SPEC_LINES.items():
        with TempDir() as tmp:
            copy_tree(HOOKED, os.path.join(tmp, 'src'))
            said = configure(os.path.join(tmp, 'src'), os.path.join(tmp, 'build'), backend)
            equal(spec_lines(said), lines, f'SPEC lines of {backend}')


def the_older_layout_builds_with_each_backend():
    check(OLDER, '', None)
    for backend in expected.BACKEND_SPEC_MINI:
        check(OLDER, backend, backend)


main(the_plain_tree_knows_no_backend, flagtree_functions_without_a_backend_do_nothing,
     flagtree_functions_specialize_the_build, configure_names_the_overridden_sources,
     the_older_layout_builds_with_each_backend)
