# SPDX-License-Identifier: MIT
"""Renaming files, links and directories: it works from any layer, and what must go stays gone."""
import errno
import mmap
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from checks import run
from everyplace import everywhere, planted
from linux import RENAME_EXCHANGE, RENAME_NOREPLACE, renameat2
from mounted import equal, fails, main, true
from native import state
from private import as_asked


def rename_to_free(old, new):
    renameat2(old, new, RENAME_NOREPLACE)


def a_directory_moves_with_all_that_it_shows(p):
    os.rename(p('td'), p('td2'))
    os.rename(p('md'), p('md2'))
    p.gone('td', 'md')
    equal(p.names('td2'), ['1', '2', '3', 'sub'], "trunk's")
    equal(p.read('td2/sub/deep'), b'deep\n', 'below')
    equal(p.read('md2/both'), b'spec both\n' if p.upper else b'trunk both\n', 'merged')
    equal(p.names('md2'), ['both'] + ['s'] * bool(p.upper) + ['t'], 'names of the merged one')
    os.rename(p('td2'), p('td'))
    equal(p.names('td'), ['1', '2', '3', 'sub'], 'back again')


def a_new_directory_moves_with_its_children(p):
    os.mkdir(p('new'))
    p.write('new/f', 'text')
    run(['mv', p('new'), p('new2')])
    run(['mv', p('new2'), p('td')])
    run(['mv', p('td/new2/f'), p('td/1')])
    equal((p.read('td/1'), p.names('td/new2')), (b'text', []), 'moved')
    p.gone('new', 'new2')


def make_many(p):
    for d in range(8):
        os.makedirs(f'{p.trunk}/many/d{d}')
        for f in range(10):
            with open(f'{p.trunk}/many/d{d}/f{f}', 'w') as out:
                out.write(f'{d} {f}')


@planted(make_many)
def a_tool_is_replaced_as_updaters_do(p):
    """The old tree aside, parts of it back to a new one, the rest removed."""
    os.rename(p('many'), p('many.bak'))
    os.mkdir(p('many'))
    run(['mv', p('many.bak/d3'), p('many')])
    run(['rm', '-r', p('many.bak')])
    p.gone('many.bak')
    equal(p.names('many'), ['d3'], 'names')
    equal(p.read('many/d3/f7'), b'3 7', 'a file')


def only_a_free_name_is_taken_when_asked(p):
    os.unlink(p('t.txt'))
    p.write('z', 'new')
    rename_to_free(p('z'), p('t.txt'))
    equal(p.read('t.txt'), b'new', 'over a deleted name')
    p.write('z', 'newer')
    fails(errno.EEXIST, rename_to_free, p('z'), p('t.txt'))
    fails(errno.EEXIST, rename_to_free, p('z'), p('both.txt'))
    fails(errno.EEXIST, rename_to_free, p('td'), p('empty'))
    equal((p.read('z'), p.read('t.txt')), (b'newer', b'new'), 'as before')
    rename_to_free(p('td'), p('td2'))
    run(['rm', '-r', p('md')])
    rename_to_free(p('td2'), p('md'))
    equal(p.names('md'), ['1', '2', '3', 'sub'], 'a directory over a deleted one')


def two_names_are_swapped(p):
    """Files, directories, links, of one layer or of two; and back again."""
    p.write('new', 'new')
    before = state(p())
    pairs = [('new', 't.txt'), ('t.txt', 'both.txt'), ('t.txt', 'td'), ('td', 'md'),
             ('tdl', 't.txt'), ('md', 'empty')]
    for a, b in pairs:
        was = os.lstat(p(a)).st_mode, os.lstat(p(b)).st_mode
        renameat2(p(a), p(b), RENAME_EXCHANGE)
        equal((os.lstat(p(b)).st_mode, os.lstat(p(a)).st_mode), was, f'types of {a} and {b}')
    equal(p.read('both.txt'), b'new', 'what was swapped twice')
    for a, b in reversed(pairs):
        renameat2(p(b), p(a), RENAME_EXCHANGE)
    equal(state(p()), before, 'back again')
    fails(errno.ENOENT, renameat2, p('new'), p('nothing'), RENAME_EXCHANGE)
    fails(errno.EINVAL, renameat2, p('td'), p('td/sub'), RENAME_EXCHANGE)


@planted(lambda p: os.mkdir(f'{p.trunk}/bare'))
def an_empty_directory_is_replaced(p):
    os.mkdir(p('d1'))
    p.write('d1/f', 'f')
    os.mkdir(p('d2'))
    p.write('d2/x', 'x')
    os.unlink(p('d2/x'))
    run(['mv', '-T', p('d1'), p('d2')])
    equal(p.names('d2'), ['f'], 'over one that was emptied')
    for name in os.listdir(p('td/sub')):
        os.unlink(p(f'td/sub/{name}'))
    run(['mv', '-T', p('d2'), p('td/sub')])
    equal(p.names('td/sub'), ['f'], "over one of trunk's that was emptied")
    run(['mv', '-T', p('td/sub'), p('bare')])
    equal(p.names('bare'), ['f'], 'over one that is empty in trunk')
    p.gone('d1', 'd2', 'td/sub')


def what_is_not_empty_is_not_replaced(p):
    """And the refusal changes nothing."""
    os.mkdir(p('b'))
    p.write('b/g', 'g')
    for source in ('td', 'md', 'b'):
        for target in ('td', 'md', 'b'):
            if source != target:
                before = p.names(source), p.names(target)
                fails(errno.ENOTEMPTY, os.rename, p(source), p(target))
                equal((p.names(source), p.names(target)), before, f'{source}, {target}')
    fails(errno.ENOTDIR, os.rename, p('td'), p('t.txt'))
    fails(errno.EISDIR, os.rename, p('t.txt'), p('td'))
    fails(errno.EINVAL, os.rename, p('td'), p('td/sub/td'))
    equal((p.read('t.txt'), p.read('td/sub/deep')), (b'trunk t\n', b'deep\n'), 'as before')


def a_mapped_temporary_file_takes_the_name(p):
    """A cache is removed, written to a temporary file by a shared map, and renamed into place."""
    os.unlink(p('both.txt'))
    with open(p('both.tmp'), 'wb+') as f:
        os.ftruncate(f.fileno(), 100000)
        with mmap.mmap(f.fileno(), 100000) as m:
            m[:] = b'm' * 100000
            os.rename(p('both.tmp'), p('both.txt'))
            m[:5] = b'LATER'
    equal(p.read('both.txt'), b'LATER' + b'm' * 99995, 'text')


def symlinks_are_replaced_not_followed(p):
    run(['ln', '-s', 'a', p('l')])
    for link in ('l', 'tl', 'tdl'):
        run(['ln', '-sfn', 'b', p(link)])
        equal(os.readlink(p(link)), 'b', link)
    equal((p.read('t.txt'), p.names('td')), (b'trunk t\n', ['1', '2', '3', 'sub']), 'its target')
    os.rename(p('tl'), p('tl2'))
    equal(os.readlink(p('tl2')), 'b', 'renamed')
    p.gone('tl')


def a_file_is_written_after_it_was_renamed(p):
    for name in ('new', 't.txt', 'both.txt', 'td/1'):
        fd = os.open(p(name), os.O_RDWR | os.O_CREAT)
        os.rename(p(name), p('moved'))
        os.ftruncate(fd, 0)
        os.pwrite(fd, b'late', 0)
        os.close(fd)
        equal(p.read('moved'), b'late', name)
        p.gone(name)


def what_was_renamed_and_removed_does_not_return(p):
    p.write('x', 'new')
    os.rename(p('x'), p('t.txt'))
    os.unlink(p('t.txt'))
    p.gone('x', 't.txt')
    os.rename(p('both.txt'), p('y'))
    os.unlink(p('y'))
    p.gone('both.txt', 'y')
    os.rename(p('td/1'), p('td/2'))
    os.rename(p('td/2'), p('td/3'))
    os.unlink(p('td/3'))
    equal(p.names('td'), ['sub'], 'names')


as_asked()
main(*everywhere(a_directory_moves_with_all_that_it_shows, a_new_directory_moves_with_its_children,
                 a_tool_is_replaced_as_updaters_do, only_a_free_name_is_taken_when_asked,
                 two_names_are_swapped,
                 an_empty_directory_is_replaced, what_is_not_empty_is_not_replaced,
                 a_mapped_temporary_file_takes_the_name, symlinks_are_replaced_not_followed,
                 a_file_is_written_after_it_was_renamed,
                 what_was_renamed_and_removed_does_not_return))
