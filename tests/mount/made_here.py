# SPDX-License-Identifier: MIT
"""What is made through the mount can be taken back: below a graft for good, and links are links."""
import os
import shutil

from daemontree import SPEC, view
from mounted import equal, main, read_file, run, true

GRAFT = 'python/triton/backends/b'
BACKEND = 'third_party/b/backend'
MORE = {
    BACKEND + '/driver.py': 'old = 1\n',
    BACKEND + '/kept.py': 'kept = 1\n',
    SPEC + '/committed.h': ('link', 's.h'),
}


def seen(v):
    """Names, in the mount and in the checkout."""
    return v.listdir(GRAFT), sorted(os.listdir(f'{v.root}/{BACKEND}'))


def editors_leave_nothing_below_a_graft():
    with view(more=MORE) as v:
        before = seen(v)
        at = v.path(GRAFT)
        for turn in range(3):
            run(['sed', '-i', f's/= .*/= {turn}/', f'{at}/driver.py'])
            equal(read_file(f'{v.root}/{BACKEND}/driver.py'), f'old = {turn}\n'.encode(), 'sed')
            # as vim does: a probe, the old file aside, a new one, the old one gone
            v.write(f'{GRAFT}/4913', '')
            os.unlink(f'{at}/4913')
            os.rename(f'{at}/driver.py', f'{at}/driver.py~')
            v.write(f'{GRAFT}/driver.py', f'vim = {turn}\n')
            os.unlink(f'{at}/driver.py~')
            # as emacs does: a lock that is a dangling link, a new file over the old one
            os.symlink('me@here.1', f'{at}/.#driver.py')
            v.write(f'{GRAFT}/#driver.py#', f'old = emacs{turn}\n')
            os.rename(f'{at}/#driver.py#', f'{at}/driver.py')
            os.unlink(f'{at}/.#driver.py')
            equal(seen(v), before, f'names after turn {turn}')
            if turn == 1:
                v.remount()
        equal(read_file(f'{v.root}/{BACKEND}/driver.py'), b'old = emacs2\n', 'in the checkout')
        equal(v.git('status', '--porcelain').split(), ['M', f'{BACKEND}/driver.py'], 'to git')


def a_tree_is_made_and_removed_below_a_graft():
    with view(more=MORE) as v:
        before = seen(v)
        shutil.copytree(v.path('doc'), v.path(f'{GRAFT}/pkg/doc'), symlinks=True)
        run(['mv', v.path(f'{GRAFT}/pkg/doc/t.txt'), v.path(f'{GRAFT}/pkg/new.txt')])
        true(os.path.exists(f'{v.root}/{BACKEND}/pkg/new.txt'), 'made in the checkout')
        run(['rm', '-r', v.path(f'{GRAFT}/pkg')])
        equal(seen(v), before, 'names')


def what_people_had_is_never_removed():
    with view(more=MORE) as v:
        v.write(f'{GRAFT}/driver.py', 'edited\n')
        os.unlink(v.path(f'{GRAFT}/driver.py'))
        os.rename(v.path(f'{GRAFT}/kept.py'), v.path(f'{GRAFT}/aside.py'))
        os.unlink(v.path(f'{GRAFT}/aside.py'))
        true(not set(v.listdir(GRAFT)) & {'driver.py', 'kept.py', 'aside.py'}, 'gone in the view')
        equal(read_file(f'{v.root}/{BACKEND}/driver.py'), b'edited\n', 'hidden only')
        equal(read_file(f'{v.root}/{BACKEND}/aside.py'), b'kept = 1\n', 'hidden only')
        run(['rm', '-rf', v.path(GRAFT)])
        equal(read_file(f'{v.root}/{BACKEND}/driver.py'), b'edited\n', 'after rm -rf')


def a_link_is_a_link_where_it_was_made():
    with view(more=MORE) as v:
        true(not os.path.islink(v.path('include/committed.h')), 'one that is committed is a file')
        for name, text in (('l.h', 's.h'), ('out.h', '../doc/t.txt'), ('sub', '../doc/sub')):
            run(['ln', '-s', text, v.path(f'include/{name}')])
            equal(os.readlink(v.path(f'include/{name}')), text, name)
        os.symlink('t.txt', v.path('doc/moved'))
        run(['mv', v.path('doc/moved'), v.path('include/moved')])
        run(['ln', '-sfn', 't.h', v.path('include/l.h')])
        run(['cp', '-a', v.path('include/out.h'), v.path('include/copy.h')])
        os.utime(v.path('include/l.h'), ns=(1, 10**18), follow_symlinks=False)
        want = {'l.h': 't.h', 'out.h': '../doc/t.txt', 'sub': '../doc/sub', 'moved': 't.txt',
                'copy.h': '../doc/t.txt'}
        for _ in range(2):
            equal({n: os.readlink(v.path(f'include/{n}')) for n in want}, want, 'texts')
            true(all(e.is_symlink() for e in os.scandir(v.path('include')) if e.name in want),
                 'types in the listing')
            equal(v.read('include/l.h'), b'trunk t\n', 'what one leads to')
            v.remount()


main(editors_leave_nothing_below_a_graft, a_tree_is_made_and_removed_below_a_graft,
     what_people_had_is_never_removed, a_link_is_a_link_where_it_was_made)
