# SPDX-License-Identifier: MIT
"""Unmodified CMake and ninja in the mount build the specialized variants of a plain trunk.

No flagtree_spec_td_set, no include order, no source override, no environment variable.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from mounted import View, equal, git, main, true
from seedtree import CPP_BACKENDS, PLAIN, build_and_report, compare_report, expected


def check(backend, build_of):
    with View(PLAIN, backend) as v:
        got = build_and_report(v.mnt, build_of(v))
        compare_report(got, expected.build_output(PLAIN, backend),
                       f'{backend}, built in {build_of(v)}')
        equal(git(v.root, 'status', '--porcelain', '--ignored'), '',
              'git status of the checkout after the build')


def build_directory_inside_the_mount():
    for backend in CPP_BACKENDS:
        check(backend, lambda v: v.path('build'))


def build_directory_outside_the_mount():
    for backend in CPP_BACKENDS:
        check(backend, lambda v: os.path.join(v.tmp, 'build'))


def two_backends_have_two_build_directories():
    with View(PLAIN, 'enflame') as a:
        build_and_report(a.mnt, a.path('build'))
        with View(root=a.root, backend='ppu') as b:
            true(not b.exists('build'), 'the build directory of the other view is not seen')
            got = build_and_report(b.mnt, b.path('build'))
            compare_report(got, expected.build_output(PLAIN, 'ppu'),
                           'second backend of one checkout')


def a_build_directory_survives_a_remount():
    with View(PLAIN, 'enflame') as v:
        build_and_report(v.mnt, v.path('build'))
        v.remount()
        got = build_and_report(v.mnt, v.path('build'))
        compare_report(got, expected.build_output(PLAIN, 'enflame'), 'after a remount')


main(build_directory_inside_the_mount, build_directory_outside_the_mount,
     two_backends_have_two_build_directories, a_build_directory_survives_a_remount)
