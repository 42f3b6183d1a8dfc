# SPDX-License-Identifier: MIT
"""Hard links, made in a view or found in its layers: one file, exact counts, at every place."""
import errno
import mmap
import os
import sys
import tarfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from checks import run
from everyplace import everywhere, planted
from mounted import View, equal, fails, main, true
from private import as_asked


def links(p, *names):
    return [os.lstat(p(n)).st_nlink for n in names]


def the_count_is_exact(p):
    p.write('a', 'text')
    os.link(p('a'), p('b'))
    equal(links(p, 'a', 'b'), [2, 2], 'two names')
    os.rename(p('b'), p('td/b'))
    equal(links(p, 'a', 'td/b'), [2, 2], 'two names, one renamed')
    os.unlink(p('td/b'))
    equal(links(p, 'a'), [1], 'one name')
    for _ in range(300):
        os.link(p('a'), p('b'))
        os.unlink(p('b'))
        equal(links(p, 'a'), [1], 'linked and unlinked')
    os.link(p('a'), p('b'))
    os.rename(p('t.txt'), p('b'))
    equal(links(p, 'a', 'b'), [1, 1], 'the other name replaced')


def check_directories(top):
    """A count of 1 means "not counted"; else find takes it for 2 and the sub-directories."""
    for base, dirs, _ in os.walk(top):
        real = [d for d in dirs if not os.path.islink(os.path.join(base, d))]
        count = os.stat(base).st_nlink
        true(count == 1 or count >= 2 + len(real), f'{base}: {count}, for {real}')


def no_directory_has_more_than_it_counts(p):
    check_directories(p())
    os.mkdir(p('empty/d'))
    os.rename(p('sd' if p.upper else 'md'), p('td/d'))
    os.symlink('d', p('td/l'))
    check_directories(p())
    os.rmdir(p('empty/d'))
    run(['rm', '-r', p('td/sub')])
    check_directories(p())


def those_of_a_whole_view_too():
    with View('flagtree-mini', 'mthreads') as v:
        check_directories(v.mnt)


def both_names_are_one_file(p):
    p.write('a', 'text')
    os.link(p('a'), p('b'))
    true(os.path.samefile(p('a'), p('b')), 'one file')
    p.write('a', ' more', 'a')
    equal(p.read('b'), b'text more', 'appended by the other name')
    with open(p('a'), 'r+b') as f, mmap.mmap(f.fileno(), 0) as m, open(p('b'), 'rb') as g:
        m[:4] = b'TEXT'
        equal(g.read(), b'TEXT more', 'through a shared map of the other name')
    os.chmod(p('b'), 0o640)
    equal(os.stat(p('a')).st_mode & 0o777, 0o640, 'mode by the other name')
    with tarfile.open(p('../both.tar'), 'w') as t:
        t.add(p('a'))
        t.add(p('b'))
        equal([m.islnk() for m in t.getmembers()], [False, True], 'members of an archive')
    os.unlink(p('../both.tar'))


def a_layers_file_is_linked(p):
    """Each of many, in a directory that was looked at before."""
    for name in p.names('td'):
        os.lstat(p(f'td/{name}'))
    for name in ('t.txt', 'both.txt', 'td/1', 'td/2', 'td/3', 'td/sub/deep'):
        text = p.read(name)
        os.link(p(name), p('linked'))
        equal((p.read(name), p.read('linked')), (text, text), f'{name}: texts')
        equal(links(p, name, 'linked'), [2, 2], f'{name}: counts')
        true(os.path.samefile(p(name), p('linked')), f'{name}: one file')
        p.write(name, 'more', 'a')
        equal((p.read(name), p.read('linked')), (text + b'more', text + b'more'), f'{name}: both')
        os.unlink(p(name))
        equal((links(p, 'linked'), p.read('linked')), ([1], text + b'more'), f'{name}: the other')
        os.rename(p('linked'), p(name))


def a_taken_name_is_refused(p):
    p.write('a', 'text')
    for name in ('t.txt', 'both.txt', 'td', 'tl'):
        fails(errno.EEXIST, os.link, p('a'), p(name))
    os.unlink(p('t.txt'))
    os.link(p('a'), p('t.txt'))
    equal((p.read('t.txt'), links(p, 'a')), (b'text', [2]), 'over a deleted name')
    fails(errno.EPERM, os.link, p('td'), p('td2'))
    os.symlink('nowhere', p('dangling'))
    os.link(p('dangling'), p('dangling2'), follow_symlinks=False)
    equal(os.readlink(p('dangling2')), 'nowhere', 'a symlink itself')


def make_links(p):
    for top in filter(None, (p.trunk, p.upper)):
        with open(f'{top}/l1', 'w') as f:
            f.write('linked')
        os.link(f'{top}/l1', f'{top}/l2')


@planted(make_links)
def links_of_a_layer_have_a_steady_count(p):
    before = links(p, 'l1')
    os.lstat(p('l2'))
    p.names()
    equal((links(p, 'l1'), links(p, 'l2')), (before, before), 'before and after the second look')
    equal(before, [2], 'count')
    p.write('l1', ' more', 'a')
    p.read('l2')
    equal(p.read('l1'), b'linked more', 'what was written')
    in_place = p.name in ('mapped', 'owner')
    equal(p.read('l2'), b'linked more' if in_place else b'linked', 'the other name')
    equal(links(p, 'l1', 'l2'), [2, 2] if in_place else [1, 2], 'counts after a write')
    equal(os.path.samefile(p('l1'), p('l2')), in_place, 'one file')


def programs_keep_links(p):
    os.mkdir(p('from'))
    for name in 'ab':
        p.write(f'from/{name}', name)
        os.link(p(f'from/{name}'), p(f'from/{name}2'))
    run(['cp', '-a', p('from'), p('copy')])
    run(['sh', '-ec', 'mkdir "$2"; tar -c -C "$1" . | tar -x -C "$2"', 'sh', p('from'),
         p('unpacked')])
    for d in ('copy', 'unpacked'):
        equal(links(p, f'{d}/a', f'{d}/b2'), [2, 2], f'{d}: counts')
        true(os.path.samefile(p(f'{d}/a'), p(f'{d}/a2')), f'{d}: one file')
    run(['cp', '-al', p('from'), p('linked')])
    equal(links(p, 'linked/a', 'from/b'), [4, 4], 'cp -l')


as_asked()
main(*everywhere(the_count_is_exact, no_directory_has_more_than_it_counts, both_names_are_one_file,
                 a_layers_file_is_linked, a_taken_name_is_refused,
                 links_of_a_layer_have_a_steady_count, programs_keep_links),
     those_of_a_whole_view_too)
