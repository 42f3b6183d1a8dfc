# SPDX-License-Identifier: MIT
"""A removal that cannot be done changes nothing; moving a file between view and layer keeps it."""
import errno
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from checks import need_program, read_file, run
from everyplace import SPEC, edits_trunk, everywhere
from loopfs import LoopFs, fill_blocks, until_full
from mounted import View, commit_all, equal, main, make_tree, true
from private import as_asked

TREE = {
    '.gitignore': '/ignored/\n',
    'doc/t': 'trunk\n',
    'ignored/t': 'ignored\n',
    'ignored/d/t': 'ignored\n',
    'include/t': 'trunk\n',
    'include/both': 'trunk both\n',
    'include/d/t': 'trunk\n',
    SPEC + '/both': 'spec both\n',
    SPEC + '/s': 'spec\n',
}
# the last two need no mark
NAMES = ('ignored/t', 'ignored/d/t', 'include/t', 'include/both', 'include/d/t', 'include/s',
         'doc/t')


def fill(at):
    """Use up all numbers of files of a file system, and all its blocks."""
    os.mkdir(f'{at}/full')
    until_full(lambda number: os.close(os.open(f'{at}/full/{number}', os.O_CREAT)))
    fill_blocks(f'{at}/full/0')


def seen(v):
    return {name: v.read(name) for name in NAMES if v.exists(name)}


def a_removal_is_whole_or_not_at_all():
    """There is no room for any mark: what cannot be hidden stays, in view and layers."""
    with LoopFs('ext4', 24) as at:
        make_tree(TREE, f'{at}/checkout')
        commit_all(f'{at}/checkout')
        os.mkdir(f'{at}/scratch')
        with View('', 'b', root=f'{at}/checkout', opts=['-p', 'flagtree'], mount=False) as v:
            v.scratch = f'{at}/scratch'
            v.mount()
            fill(at)
            before = seen(v)
            layers = {name: read_file(f'{at}/checkout/{name}') for name in TREE}
            refused = []
            for name in NAMES:
                try:
                    os.unlink(v.path(name))
                    true(not v.exists(name), f'{name} was removed and is gone')
                except OSError as e:
                    equal(e.errno, errno.ENOSPC, f'why {name} cannot be removed')
                    refused.append(name)
                    equal(v.read(name), before[name], f'{name} after the refusal')
            equal(refused, list(NAMES[:-2]), 'what could not be removed')
            for name in ('include/t', 'include/both', SPEC + '/both', 'ignored/t', '.gitignore'):
                equal(read_file(f'{at}/checkout/{name}'), layers[name], f'{name} in its layer')
            left = seen(v)
            shutil.rmtree(f'{at}/full')
            v.remount()
            equal(seen(v), left, 'after a remount')
            for name in left:
                os.unlink(v.path(name))
            equal(seen(v), {}, 'once there is room')
            equal(read_file(f'{at}/checkout/include/both'), b'trunk both\n', "trunk's")


def copies(p, name):
    """Where the view or a layer has that file, and what is in it."""
    paths = [os.path.join(top, name) for top in (p.trunk, p.upper, p()) if top]
    return {at: read_file(at) for at in paths if os.path.lexists(at)}


@edits_trunk
def a_file_moved_from_the_view_to_a_layer_is_kept(p):
    """`mv` copies, and then removes the name: which may show the copy by then."""
    if not p.upper:
        return
    for name, to in (('t.txt', p.upper), ('td/1', p.upper), ('s.txt', p.trunk),
                     ('both.txt', p.trunk)):
        text = p.read(name)
        os.makedirs(os.path.dirname(os.path.join(to, name)), exist_ok=True)
        run(['mv', p(name), os.path.join(to, name)])
        true(text in copies(p, name).values(), f'{name} is somewhere: {copies(p, name)}')
        if to == p.trunk:
            equal(read_file(os.path.join(to, name)), text, f'{name} where it was moved to')


need_program('mv')
as_asked()
main(a_removal_is_whole_or_not_at_all,
     *everywhere(a_file_moved_from_the_view_to_a_layer_is_kept))
