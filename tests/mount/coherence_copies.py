# SPDX-License-Identifier: MIT
"""What a change copies to another layer is listed and watched as what it is from then on."""
import errno
import os
import shutil

from mounted import View, equal, fails, main, run, true

TREE = {'d/sub/file': 'text\n', 'd/old': '', 'overlays/b/': None}


def sync(v):
    run([v.bin, 'sync', v.mnt], env=v.env)


def listed_numbers(v, rel):
    return {e.name: e.inode() for e in os.scandir(v.path(rel))}


def shown_numbers(v, rel):
    return {n: os.lstat(v.path(f'{rel}/{n}')).st_ino for n in os.listdir(v.path(rel))}


def a_copy_is_listed_with_its_own_number():
    with View({'d/a': 'text\n'}, opts=['-l', '.'], prepare=lambda root: os.link(
            os.path.join(root, 'd/a'), os.path.join(root, 'd/b')), mount=False) as v:
        v.opts[1] = os.path.join(v.tmp, 'over')
        os.mkdir(v.opts[1])
        v.mount()
        before = listed_numbers(v, 'd')
        os.utime(v.path('d/b'), (1, 1))
        sync(v)
        equal(listed_numbers(v, 'd'), shown_numbers(v, 'd'), 'listed and shown')
        true(listed_numbers(v, 'd') != before, 'the copy is a file of its own')


def what_lies_in_a_moved_directory_is_listed_with_its_own_number():
    with View(TREE, 'b', opts=['-p', 'generic']) as v:
        for rel in ('d', 'd/sub'):
            equal(listed_numbers(v, rel), shown_numbers(v, rel), rel)
        os.rename(v.path('d'), v.path('e'))
        sync(v)
        for rel in ('e', 'e/sub'):
            equal(listed_numbers(v, rel), shown_numbers(v, rel), rel)


def a_directory_that_was_moved_by_copying_is_watched_where_it_is():
    with View(TREE, 'b', opts=['-p', 'generic']) as v:
        for rel in ('d', 'd/sub'):
            true(not v.exists(f'{rel}/new') and v.listdir(rel), 'the kernel knows what is in it')
        os.rename(v.path('d'), v.path('e'))
        for rel in ('e', 'e/sub'):
            equal(v.exists(f'{rel}/new'), False, 'not there yet')
            v.listdir(rel)
        for rel in ('e', 'e/sub'):
            with open(os.path.join(v.root, 'overlays/b', rel, 'new'), 'wb'):
                pass
        sync(v)
        for rel in ('e', 'e/sub'):
            true(v.exists(f'{rel}/new') and 'new' in v.listdir(rel), f'made in {rel} underneath')


def a_directory_that_was_there_for_a_copy_goes_with_it():
    with View({'d/sub/old': ''}, opts=['-p', 'generic', '--scratch-all']) as v:
        v.write('d/sub/mine', b'')
        shutil.rmtree(os.path.join(v.root, 'd'))
        sync(v)
        equal(v.listdir('d/sub'), ['mine'], 'what scratch has')
        os.unlink(v.path('d/sub/mine'))
        sync(v)
        true(not v.exists('d/sub') and not v.exists('d'), 'nothing has them')
        true('d' not in v.listdir(''), 'nor lists them')


def the_other_name_of_a_copied_file_is_the_old_file():
    with View({'d/a': 'text\n'}, opts=['-o', 'write=owner'], mount=False,
              prepare=lambda root: os.link(f'{root}/d/a', f'{root}/other')) as v:
        over = os.path.join(v.tmp, 'over')
        os.mkdir(over)
        v.opts += ['-l', over]
        v.mount()
        for rel in ('d/a', 'other'):
            equal(v.read(rel), b'text\n', rel)
        os.rename(v.path('d'), v.path('e'))
        true(os.path.exists(os.path.join(over, 'e/a')), 'it was copied')
        sync(v)
        old = os.stat(os.path.join(v.root, 'other')).st_ino
        equal(os.stat(v.path('other')).st_ino, old, 'its number')
        true(os.stat(v.path('e/a')).st_ino != old, 'the copy has another one')


def a_link_of_a_copy_is_seen_by_both_names():
    with View({'d/a': 'text\n', 'e/': None}, opts=['-p', 'generic', '--scratch-all']) as v:
        os.link(v.path('d/a'), v.path('e/b'))
        for rel in ('e/b', 'd/a'):
            v.listdir(os.path.dirname(rel))
            equal(os.stat(v.path(rel)).st_nlink, 2, f'names of {rel}')
            true(v.origin(rel).startswith('scratch '), f'{rel} is the copy')


def a_link_whose_other_name_is_copied_is_right_after_sync():
    profile = ('[profile]\nname = t\nbackends = b/*/\n[map m]\nat = m\nfrom = b/${backend}\n'
               '[write]\nc* = scratch\n@any = owner\n')

    def two_names(root):
        os.symlink('nowhere', f'{root}/a')
        os.link(f'{root}/a', f'{root}/c', follow_symlinks=False)

    with View({'.specfs.ini': profile, 'b/x/': None}, 'x', prepare=two_names) as v:
        for name in ('a', 'c'):
            os.lstat(v.path(name))
        os.utime(v.path('a'), (1, 2), follow_symlinks=False)
        sync(v)
        equal(os.lstat(v.path('c')).st_mtime, 2.0, 'by the other name')


def a_rule_denies_a_name_and_not_the_file():
    profile = ('[profile]\nname = t\nbackends = b/*/\n[map m]\nat = m\nfrom = b/${backend}\n'
               '[write]\nkeep* = deny\n@any = owner\n')
    for first in (('keep', 'free'), ('free', 'keep')):
        with View({'free': 'text\n', '.specfs.ini': profile, 'b/x/': None}, 'x',
                  prepare=lambda root: os.link(f'{root}/free', f'{root}/keep')) as v:
            for name in first:
                equal(v.read(name), b'text\n', name)
            fails(errno.EROFS, os.chmod, v.path('keep'), 0o600)
            v.write('free', b'new text\n')
            sync(v)
            for name in first:
                equal(v.read(name), b'new text\n', name)


main(a_copy_is_listed_with_its_own_number,
     what_lies_in_a_moved_directory_is_listed_with_its_own_number,
     a_directory_that_was_moved_by_copying_is_watched_where_it_is,
     a_directory_that_was_there_for_a_copy_goes_with_it,
     the_other_name_of_a_copied_file_is_the_old_file, a_link_of_a_copy_is_seen_by_both_names,
     a_link_whose_other_name_is_copied_is_right_after_sync, a_rule_denies_a_name_and_not_the_file)
