# SPDX-License-Identifier: MIT
"""One file for each way that a write may go, in the checkout of daemontree.py."""
import os

from daemontree import SPEC
from mounted import read_file

WAYS = ('trunk in place', 'copied to the backend', 'backend in place', 'new in the trunk',
        'new in the backend', 'new in scratch')


def files(v):
    """{way: (name in the view, path of the real file once it was written)}; makes the new ones."""
    os.makedirs(v.path('build'), exist_ok=True)
    table = {
        'trunk in place': ('doc/t.txt', f'{v.root}/doc/t.txt'),
        'copied to the backend': ('include/t.h', f'{v.root}/{SPEC}/t.h'),
        'backend in place': ('include/both.h', f'{v.root}/{SPEC}/both.h'),
        'new in the trunk': ('doc/new', f'{v.root}/doc/new'),
        'new in the backend': ('include/new.h', f'{v.root}/{SPEC}/new.h'),
        'new in scratch': ('build/new', f'{v.scratch}/upper/build/new'),
    }
    for way in ('new in the trunk', 'new in the backend', 'new in scratch'):
        if not v.exists(table[way][0]):
            v.write(table[way][0], 'new text\n')
    return table


def bystanders(v):
    """What no write through the mount may change: the trunk's files that the backend shadows."""
    return {n: read_file(f'{v.root}/include/{n}') for n in ('t.h', 'both.h')}
