# SPDX-License-Identifier: MIT
"""Marker, grafts and links of a view: right without any symlink in the checkout."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from mounted import View, equal, main, read_file, true, wait_for
from seedtree import HOOKED, PLAIN, each_view, expected


def check_marker(v):
    path = 'python/triton/FLAGTREE_BACKEND'
    equal(v.read(path), v.backend.encode(), path)
    equal(os.stat(v.path(path)).st_size, len(v.backend), f'size of {path}')
    true(not os.path.exists(os.path.join(v.root, path)), 'the checkout has none')


def check_link_texts(v):
    for base, dirs, files in os.walk(v.path('python')):
        for path in (os.path.join(base, name) for name in dirs + files):
            if not os.path.islink(path):
                continue
            text = os.readlink(path)
            true(not os.path.isabs(text), f'{path} -> {text} is relative')
            true(os.path.exists(path), f'{path} -> {text} leads somewhere')
            true(os.path.realpath(path).startswith(v.mnt + '/'), f'{path} -> {text} stays inside')


def check_only_own_backend(v):
    every = set(expected.FLAGTREE_MINI)
    grafts = expected.FLAGTREE_MINI[v.backend]['grafts']
    for where in ('python/triton/spec', 'python/triton/backends'):
        names = set(v.listdir(where)) if v.exists(where) else set()
        want = {v.backend} if f'{where}/{v.backend}' in grafts else set()
        equal(names & every, want, f'{where}: backends')
    for other in every - {v.backend}:
        true(not v.exists(f'python/triton/spec/{other}'), f'spec/{other} is not found by name')


def check(v):
    check_marker(v)
    check_link_texts(v)
    check_only_own_backend(v)


def each_backend_has_its_own_and_no_other():
    for tree in (PLAIN, HOOKED):
        each_view(tree, check)


def extras_lead_to_the_backends_files():
    with View(PLAIN, 'mthreads') as v:
        equal(v.read('python/triton/language/extra/musa/libdevice.py'),
              read_file(os.path.join(v.root, 'third_party/mthreads/language/musa/libdevice.py')),
              'language/extra/musa')
        equal(v.listdir('python/triton/tools/extra'), ['musa'],
              'python/triton/tools/extra, which no layer has')
        equal(v.listdir('python/triton/tools/extra/musa'), ['compile.c', 'link.h'],
              'tools/extra/musa')


def a_backend_directory_made_later_appears():
    with View(PLAIN, 'ppu') as v:
        true(not v.exists('python/triton/backends/ppu'),
             'python/triton/backends/ppu is not there without its directory')
        os.makedirs(os.path.join(v.root, 'third_party/ppu/backend'))
        with open(os.path.join(v.root, 'third_party/ppu/backend/driver.py'), 'w') as f:
            f.write('ORIGIN = "ppu"\n')
        wait_for(lambda: v.exists('python/triton/backends/ppu/driver.py'), 'the new driver.py')
        equal(v.listdir('python/triton/backends/ppu'), ['driver.py'], 'python/triton/backends/ppu')


main(each_backend_has_its_own_and_no_other, extras_lead_to_the_backends_files,
     a_backend_directory_made_later_appears)
