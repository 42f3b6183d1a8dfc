# SPDX-License-Identifier: MIT
"""A trunk whose CMake calls FlagTree's own functions gives the same build in the mount.

Its functions compare real paths and stop with FATAL_ERROR where a source is found twice.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from mounted import View, equal, main
from seedtree import (CPP_BACKENDS, HOOKED, OLDER, build_and_report, compare_report, configure,
                      expected, spec_lines)


def with_the_environment_of_an_installation():
    for backend in CPP_BACKENDS:
        with View(HOOKED, backend) as v:
            got = build_and_report(v.mnt, v.path('build'), backend)
            compare_report(got, expected.build_output('flagtree-mini', backend),
                           f'{backend}, FLAGTREE_BACKEND set')


def without_any_environment():
    for backend in CPP_BACKENDS:
        with View(HOOKED, backend) as v:
            got = build_and_report(v.mnt, v.path('build'))
            compare_report(got, expected.build_output('flagtree-mini', backend),
                           f'{backend}, FLAGTREE_BACKEND not set')


def configure_names_the_overridden_sources():
    for backend, lines in expected.SPEC_LINES.items():
        with View(HOOKED, backend) as v:
            equal(spec_lines(configure(v.mnt, v.path('build'), backend)), lines,
                  f'SPEC lines of {backend}')


def older_layout():
    for backend in expected.BACKEND_SPEC_MINI:
        with View(OLDER, backend) as v:
            got = build_and_report(v.mnt, v.path('build'), backend)
            compare_report(got, expected.build_output(OLDER, backend), f'{OLDER}, {backend}')


main(with_the_environment_of_an_installation, without_any_environment,
     configure_names_the_overridden_sources, older_layout)
