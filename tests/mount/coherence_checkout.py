# SPDX-License-Identifier: MIT
"""`git checkout` of another branch underneath changes thousands of files; none is stale then."""
import os

from mounted import View, equal, git, main, snapshot, write_file

FILES = int(os.environ.get('SPECFS_TEST_FILES', '3000'))
PER_DIR = 50


def fill(root, text):
    for i in range(FILES):
        write_file(os.path.join(root, f'src/d{i // PER_DIR}/f{i}.txt'), f'{text} {i}\n'.encode())


def prepare(root):
    fill(root, 'first')
    git(root, 'add', '-A')
    git(root, 'commit', '-qm', 'first')
    git(root, 'checkout', '-qb', 'other')
    fill(root, 'other')
    for i in range(0, FILES, 7):
        os.unlink(os.path.join(root, f'src/d{i // PER_DIR}/f{i}.txt'))
        write_file(os.path.join(root, f'src/d{i // PER_DIR}/g{i}.txt'), b'only here\n')
    git(root, 'add', '-A')
    git(root, 'commit', '-qm', 'other')
    git(root, 'checkout', '-q', '-')


def contents(top):
    """name -> (type, content, mtime), of all that git manages"""
    return snapshot(os.path.join(top, 'src'))


def another_branch_is_seen_whole():
    with View({'README': 'x\n'}, mount=False) as v:
        prepare(v.root)
        v.mount()
        equal(contents(v.mnt), contents(v.root), 'before')
        for branch in ('other', '-', 'other'):
            git(v.root, 'checkout', '-q', branch)
            v.cli('sync', v.mnt)
            equal(contents(v.mnt), contents(v.root), f'after checkout {branch}')


main(another_branch_is_seen_whole)
