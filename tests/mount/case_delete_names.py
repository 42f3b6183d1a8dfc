# SPDX-License-Identifier: MIT
"""What was removed stays gone, also after it was made again, renamed, and mounted once more."""
import errno
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from checks import run, wait_for
from everyplace import everywhere, planted
from mounted import equal, fails, main, true
from private import as_asked


def all_removed(p, *names):
    run(['rm', '-r', *[p(n) for n in names]])
    p.gone(*names)


def a_name_made_again_shows_nothing_old(p):
    all_removed(p, 'td', 'md', 't.txt', 'both.txt', 'tl', 'tdl')
    for d in ('td', 'md'):
        os.mkdir(p(d))
        equal(p.names(d), [], f'{d} made again')
    os.mkdir(p('t.txt'))
    p.write('tdl', 'a file now')
    os.symlink('td', p('both.txt'))
    equal((p.names('t.txt'), p.read('tdl'), p.names('both.txt')), ([], b'a file now', []), 'types')
    p.write('td/2', 'new')
    equal(p.names('td'), ['2'], 'what was made there')
    all_removed(p, 'td', 't.txt', 'tdl')


def removed_made_and_renamed(p):
    all_removed(p, 'td', 'md')
    os.mkdir(p('td'))
    run(['mv', p('td'), p('e')])
    p.gone('td')
    equal(p.names('e'), [], 'the new directory')
    os.makedirs(p('md/b'))
    run(['mv', p('md/b'), p('b2')])
    equal((p.names('md'), p.names('b2')), ([], []), 'a directory out of a new one')
    run(['mv', p('e'), p('td')])
    equal(p.names('td'), [], 'back')
    for base, dirs, files in os.walk(p()):
        for name in dirs + files:
            os.lstat(os.path.join(base, name))


def only_that_name_is_hidden(p):
    """The same name in other directories is not."""
    for name in ('t.txt', 'td', '1'):
        if p.exists(name):
            all_removed(p, name)
        for d in ('md', 'empty'):
            p.write(f'{d}/{name}', 'here')
    os.mkdir(p('td'))
    p.write('td/1', 'here')
    p.write('1', 'here')
    os.unlink(p('1'))
    for name in ('md/t.txt', 'md/td', 'empty/1', 'td/1'):
        equal(p.read(name), b'here', name)
    p.gone('t.txt', '1')
    equal(p.names('td'), ['1'], 'names')


def nothing_of_a_removed_directory_is_reached(p):
    """Neither by a path that was known, nor from inside."""
    for name in ('td/sub/deep', 'td/1', 'md/t'):
        p.read(name)
    inside = os.open(p('td/sub'), os.O_RDONLY | os.O_DIRECTORY)
    here = os.getcwd()
    os.chdir(p('td'))
    try:
        all_removed(p, 'td', 'md')
        for name in ('td/sub/deep', 'td/1', 'md/t', 'td/sub'):
            fails(errno.ENOENT, os.lstat, p(name))
        equal((os.listdir('.'), os.listdir(inside)), ([], []), 'seen from inside')
        fails(errno.ENOENT, os.lstat, 'sub')
        fails(errno.ENOENT, open, 'new', 'w')
        os.mkdir(p('td'))
        p.write('td/1', 'new')
        equal(os.listdir('.'), [], 'the old directory, while there is a new one')
    finally:
        os.chdir(here)
        os.close(inside)
    equal((p.read('td/1'), p.names('td')), (b'new', ['1']), 'the new one')


def what_a_layer_gets_after_a_removal_of_our_own_shows(p):
    """A directory made and removed in the view leaves no mark for a later one of the layer."""
    os.mkdir(p('n'))
    p.write('n/x', 'x')
    os.unlink(p('n/x'))
    os.rmdir(p('n'))
    os.mkdir(f'{p.trunk}/n')
    with open(f'{p.trunk}/n/f', 'w') as f:
        f.write('later')
    wait_for(lambda: p.exists('n/f'), 'the file of the later directory shows')
    equal((p.read('n/f'), p.names('n')), (b'later', ['f']), 'the later directory')
    os.unlink(p('n/f'))
    os.rmdir(p('n'))
    p.gone('n')
    run(['rm', '-rf', f'{p.trunk}/n'])


def removing_in_any_order_leaves_an_empty_place(p):
    for name in sorted(os.listdir(p()), reverse=True):
        run(['rm', '-r', p(name)])
    equal(p.names(), [], 'all names')
    os.mkdir(p('d'))
    os.rename(p('d'), p('td'))
    equal(p.names('td'), [], 'a name that was used before')
    p.write('t.txt', 'new')
    equal(p.names(), ['t.txt', 'td'], 'new names')


def what_is_not_empty_is_not_removed(p):
    for name in ('td', 'md', 'td/sub'):
        fails(errno.ENOTEMPTY, os.rmdir, p(name))
    fails(errno.ENOTDIR, os.rmdir, p('t.txt'))
    fails(errno.EISDIR, os.unlink, p('td'))
    for name in ('td/1', 'td/2', 'td/3', 'td/sub/deep'):
        os.unlink(p(name))
    fails(errno.ENOTEMPTY, os.rmdir, p('td'))
    os.rmdir(p('td/sub'))
    os.rmdir(p('td'))
    p.gone('td')
    fails(errno.ENOENT, os.rmdir, p('td'))
    fails(errno.ENOENT, os.unlink, p('td'))


def nested(p):
    os.makedirs(f'{p.trunk}/deep/a/b/c')
    for d in ('deep', 'deep/a', 'deep/a/b', 'deep/a/b/c'):
        with open(f'{p.trunk}/{d}/f', 'w') as f:
            f.write(d)


@planted(nested)
def parts_of_a_tree_go_and_come(p):
    all_removed(p, 'deep/a/b')
    os.mkdir(p('deep/a/b'))
    p.write('deep/a/b/f', 'new')
    os.rename(p('deep/a'), p('deep/z'))
    equal((p.names('deep'), p.names('deep/z/b'), p.read('deep/z/b/f')),
          (['f', 'z'], ['f'], b'new'), 'renamed')
    os.rename(p('deep'), p('deeper'))
    os.mkdir(p('deep'))
    os.rename(p('deeper/z/b'), p('deep/a'))
    equal((p.names('deep'), p.names('deep/a'), p.names('deeper/z')), (['a'], ['f'], ['f']), 'again')
    true(not os.path.lexists(p('deep/a/c')), 'nothing old')


as_asked()
main(*everywhere(a_name_made_again_shows_nothing_old, removed_made_and_renamed,
                 only_that_name_is_hidden, nothing_of_a_removed_directory_is_reached,
                 what_a_layer_gets_after_a_removal_of_our_own_shows,
                 removing_in_any_order_leaves_an_empty_place, what_is_not_empty_is_not_removed,
                 parts_of_a_tree_go_and_come))
