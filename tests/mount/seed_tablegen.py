# SPDX-License-Identifier: MIT
"""TableGen in the mount reads the backend's .td, as root and as included file, also after edits."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from mounted import View, equal, main, read_file, true, wait_for, write_file
from seedtree import PLAIN, configure, make, report

PASSES = 'include/triton/Dialect/TritonGPU/Transforms/Passes'
OPS = 'include/triton/Dialect/Triton/IR'
SPEC = 'third_party/enflame/spec_cpp/'


def generated(v, name):
    return read_file(v.path(f'build/{name}')).decode().splitlines()[1:]


def generated_files_hold_the_specialized_records():
    with View(PLAIN, 'enflame') as v:
        configure(v.mnt, v.path('build'))
        make(v.path('build'))
        equal(generated(v, PASSES + '.h.inc'), ['TD_RECORD(Coalesce, "trunk", "enflame")'],
              'root of a run')
        equal(generated(v, OPS + '/Ops.h.inc'), ['TD_RECORD(AddOp, "enflame", "trunk")'],
              'included by a trunk .td')
        equal(generated(v,
                        OPS + '/OpInterfaces.h.inc'), ['TD_RECORD(LoadLike, "enflame", "enflame")'],
              'root of a run, set without a FlagTree function')
        depfile = read_file(v.path(f'build/{PASSES}.h.inc.d')).decode()
        true(f' {v.mnt}/{PASSES}.td' in depfile,
             f'the depfile names the path in the mount: {depfile}')
        true(SPEC not in depfile, f'and not the one in the backend: {depfile}')


def an_edit_in_the_checkout_is_rebuilt():
    with View(PLAIN, 'enflame') as v:
        configure(v.mnt, v.path('build'))
        make(v.path('build'))
        td = os.path.join(v.root, SPEC + PASSES + '.td')
        edited = read_file(td).replace(b'variant = "enflame"', b'variant = "edited"')
        write_file(td, edited)
        wait_for(lambda: v.read(PASSES + '.td') == edited, 'the edit in the mount')
        make(v.path('build'))
        equal(generated(v, PASSES + '.h.inc'), ['TD_RECORD(Coalesce, "trunk", "edited")'],
              'after the edit')
        equal(
            report(v.path(
                'build'))['lib/Dialect/TritonGPU/Transforms/Coalesce.cpp + Passes.td Coalesce'],
            'edited', 'the rebuilt program')


def a_new_specialization_is_rebuilt():
    with View(PLAIN, 'enflame') as v:
        configure(v.mnt, v.path('build'))
        make(v.path('build'))
        new = read_file(os.path.join(v.root, OPS, 'TritonOps.td')).replace(b'"trunk"', b'"new"')
        write_file(os.path.join(v.root, SPEC + OPS, 'TritonOps.td'), new)
        wait_for(lambda: v.read(OPS + '/TritonOps.td') == new, 'the new file in the mount')
        make(v.path('build'))
        equal(generated(v, OPS + '/Ops.h.inc'), ['TD_RECORD(AddOp, "enflame", "new")'],
              'after adding a .td')


main(generated_files_hold_the_specialized_records, an_edit_in_the_checkout_is_rebuilt,
     a_new_specialization_is_rebuilt)
