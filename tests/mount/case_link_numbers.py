# SPDX-License-Identifier: MIT
"""Inode numbers: one for each object, the same wherever it is asked for, and no other's."""
import errno
import os
import stat
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from checks import need_program, run, wait_for
from daemontree import SPEC, view
from everyplace import everywhere, planted
from loopfs import LoopFs
from mounted import View, equal, git, main, make_tree, true
from private import as_asked


def listed_as_found(top):
    """Each entry has the number of its object; returns {path: number}."""
    numbers = {}
    for base, _, _ in os.walk(top):
        for e in os.scandir(base):
            st = os.lstat(e.path)
            equal(e.inode(), st.st_ino, e.path)
            true(st.st_ino != 0, f'{e.path}: a number')
            numbers[os.path.relpath(e.path, top)] = st.st_ino
    return numbers


def make_alias(p):
    """A link of the upper layer at the name of a hard link of trunk's."""
    os.link(f'{p.trunk}/t.txt', f'{p.trunk}/hard')
    if p.upper:
        os.symlink('t.txt', f'{p.upper}/hard')


@planted(make_alias)
def listings_and_lookups_agree(p):
    before = listed_as_found(p())
    if p.upper:
        true(before['hard'] != before['t.txt'], 'a symlink and the file that it leads to')
    else:
        equal(before['hard'], before['t.txt'], 'two names of a file')
    for name in ('both.txt', 'td/1', 'md/both', 'md/t'):
        p.write(name, 'more', 'a')
    for name in ('td', 'md', 'empty', 'td/2'):
        os.chmod(p(name), 0o700)
    os.rename(p('td/3'), p('md/3'))
    after = listed_as_found(p())
    equal([n for n in ('td', 'md', 'empty', 'td/sub') if before[n] != after[n]], [],
          'directories with another number after changes in them')
    numbers = [n for name, n in after.items() if name != 'hard']
    equal(len(numbers), len(set(numbers)), 'numbers that are used once')
    said = run(['ls', '-iU1', p()]).stdout.split()
    equal({n: int(i) for i, n in zip(said[::2], said[1::2])},
          {n: i for n, i in after.items() if '/' not in n}, 'as ls says')


def a_number_stays_over_a_copy(p):
    before = listed_as_found(p())
    fd = os.open(p('td/1'), os.O_RDONLY)
    number = os.fstat(fd).st_ino
    for name in ('both.txt', 'td/1', 'md/both'):
        p.write(name, 'more', 'a')
        os.chmod(p(name), 0o640)
    equal(os.fstat(fd).st_ino, number, 'of a file that is open')
    os.close(fd)
    equal(listed_as_found(p()), before, 'numbers')
    for name in ('td/2', 'td/sub/deep'):
        run(['tar', '-cf', '/dev/null', '-C', p(), name, '--checkpoint=1',
             f'--checkpoint-action=exec=printf x >> {p(name)}'], ok=(0, 1))
    equal(listed_as_found(p()), before, 'numbers after an archive')


def reading_changes_nothing(p):
    """tar reports each file and directory whose times, size or number change under its hands."""
    before = {base: os.stat(base) for base, _, _ in os.walk(p())}
    for _ in range(3):
        said = run(['tar', '-cf', '/dev/null', '-C', p(), '--warning=all', '.'])
        equal(said.stderr, '', 'what tar says')
    for base, st in before.items():
        now = os.stat(base)
        equal((now.st_mtime_ns, now.st_ctime_ns, now.st_ino, now.st_size, now.st_nlink),
              (st.st_mtime_ns, st.st_ctime_ns, st.st_ino, st.st_size, st.st_nlink), base)


def a_reused_number_mixes_no_types(p):
    """A file that is open is still itself after its layer gave its number to a directory."""
    if p.name != 'owner':
        return
    fd = os.open(p('td/1'), os.O_PATH)
    number = os.fstat(fd).st_ino
    os.unlink(f'{p.trunk}/td/1')
    for i in range(50):
        os.mkdir(f'{p.trunk}/td/d{i}')
        if os.stat(f'{p.trunk}/td/d{i}').st_ino == number:
            break
    os.mkdir(f'{p.trunk}/td/1')
    wait_for(lambda: os.path.isdir(p('td/1')), 'the directory shows')
    try:
        true(stat.S_ISREG(os.fstat(fd).st_mode), 'what was opened is a file')
    except OSError as e:
        equal(e.errno, errno.ESTALE, 'error for a file that is gone')
    os.close(fd)
    for base, dirs, _ in os.walk(p('td')):
        for d in dirs:
            true(os.path.isdir(os.path.join(base, d)), f'{base}/{d}: a directory')


def numbers_of_two_file_systems_do_not_meet():
    """Directories made in the same order have the same numbers on two new file systems."""
    tree = {f'd{i}/e{i}/f': str(i) for i in range(30)}
    with LoopFs() as lower, LoopFs() as upper:
        make_tree(tree, f'{lower}/checkout')
        make_tree({'over' + name: text for name, text in tree.items()}, f'{upper}/over')
        shared = {os.stat(f'{lower}/checkout/d{i}').st_ino for i in range(30)} & {
            os.stat(f'{upper}/over/overd{i}').st_ino for i in range(30)}
        true(shared, 'numbers that both file systems have')
        with View(root=f'{lower}/checkout', opts=['-l', f'{upper}/over']) as v:
            os.mkdir(v.path('new'))
            seen = listed_as_found(v.mnt)
            equal(len(set(seen.values())), len(seen), 'different numbers')
            loops = run(['find', '-H', v.mnt, '-printf', '%i\n']).stdout.split()
            equal(len(set(loops)), len(loops), 'numbers as find prints them')


def a_kept_number_is_nobody_elses():
    """What a copy keeps showing is free again once the trunk shows the original elsewhere."""
    with view(more={f'include/td/{i}': f'{i}\n' for i in range(4)}) as v:
        number = os.stat(v.path('include/td/1')).st_ino
        for i in range(1, 4):
            v.write(f'include/td/{i}', f'more {i}\n')
        equal(os.stat(v.path('include/td/1')).st_ino, number, 'the number that is kept')
        equal(os.stat(v.path(f'{SPEC}/td/1')).st_ino, number, 'where the backend has the file')
        # git goes by number, times and size: of the same size and time it is still a change
        times = os.stat(f'{v.root}/include/td/0')
        v.write('include/td/0', 'x\n')
        os.utime(v.path('include/td/0'), ns=(times.st_atime_ns, times.st_mtime_ns))
        true(' M include/td/0' in git(v.mnt, 'status', '--porcelain'), 'git sees the change')
        trunk = f'{v.root}/include/td'
        os.rename(f'{trunk}/1', f'{trunk}/moved')
        os.link(f'{trunk}/2', f'{trunk}/linked')
        wait_for(lambda: v.exists('include/td/moved') and v.exists('include/td/linked'), 'names')
        wait_for(lambda: os.stat(v.path('include/td/1')).st_ino != number, 'an own number')
        seen = listed_as_found(v.path('include/td'))
        equal(len(set(seen.values())), len(seen), 'different numbers')
        equal(seen['moved'], number, 'the number of the original')
        os.unlink(f'{v.root}/{SPEC}/td/3')
        wait_for(lambda: os.stat(v.path('include/td/3')).st_size == 2, "the trunk's file again")
        equal(v.read('include/td/3'), b'3\n', 'what it says')
        before = listed_as_found(v.path('include/td'))
        v.remount()
        equal(listed_as_found(v.path('include/td')), before, 'after a remount')


def types_of_a_whole_view_agree():
    with View('flagtree-mini', 'mthreads') as v:
        listed_as_found(v.mnt)


need_program('tar', 'find', 'ls')
as_asked()
main(*everywhere(listings_and_lookups_agree, a_number_stays_over_a_copy,
                 reading_changes_nothing, a_reused_number_mixes_no_types),
     a_kept_number_is_nobody_elses, numbers_of_two_file_systems_do_not_meet,
     types_of_a_whole_view_agree)
