# SPDX-License-Identifier: MIT
"""A chain of backends: the first one wins, the second shows where the first has nothing."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from mounted import Problems, View, equal, main, read_file
from seedtree import PLAIN, build_and_report, compare_report, expected


def each_file_comes_from_the_first_that_has_it():
    chain = ('everywhere', 'mthreads', 'enflame')
    want = {}
    for backend in reversed(chain):
        want.update(expected.FLAGTREE_MINI[backend]['files'])
    problems = Problems()
    with View(PLAIN, ','.join(chain)) as v:
        for path, origin in want.items():
            problems.compare(path, read_file(os.path.join(v.root, origin)), v.read(path))
        equal(v.read('python/triton/FLAGTREE_BACKEND'), b'everywhere', 'marker')
        for backend in chain:
            for path, origin in expected.FLAGTREE_MINI[backend]['grafts'].items():
                got = v.listdir(path) if v.exists(path) else None
                problems.compare(path, sorted(os.listdir(os.path.join(v.root, origin))), got)
    problems.finish(f'view of {chain}')


def a_build_takes_from_both():
    with View(PLAIN, 'ppu,enflame') as v:
        want = expected.build_output(PLAIN, 'enflame')
        want.update(expected.FLAGTREE_MINI['ppu']['build'])
        compare_report(build_and_report(v.mnt, v.path('build')), want, 'built for ppu,enflame')


main(each_file_comes_from_the_first_that_has_it, a_build_takes_from_both)
