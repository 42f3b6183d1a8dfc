# SPDX-License-Identifier: MIT
"""renameat2(RENAME_EXCHANGE) swaps any two names of a view, whatever they are and wherever."""
import errno
import itertools
import os
import stat

from daemontree import view
from linux import RENAME_EXCHANGE, renameat2
from mounted import equal, fails, main, read_file, true, wait_for

MORE = {
    'doc/tree/in/x': 'trunk tree\n',
    'doc/link': ('link', 't.txt'),
    'include/dir/y.h': 'trunk dir\n',
    'third_party/b/spec_cpp/include/dir/z.h': 'spec dir\n',
}
NAMES = [
    'doc/t.txt', 'doc/tree', 'doc/link', 'include/t.h', 'include/both.h', 'include/s.h',
    'include/dir', 'build/file', 'build/tree', 'build/link'
]


def in_scratch(v):
    v.write('build/file', 'scratch file\n')
    v.write('build/tree/in/x', 'scratch tree\n')
    os.symlink('file', v.path('build/link'))


def content(path):
    """All of what is there, for comparisons."""
    st = os.lstat(path)
    if stat.S_ISLNK(st.st_mode):
        return os.readlink(path)
    if stat.S_ISDIR(st.st_mode):
        return {name: content(os.path.join(path, name)) for name in sorted(os.listdir(path))}
    return (read_file(path), stat.S_IMODE(st.st_mode), st.st_mtime_ns)


def every_two_names():
    with view(more=MORE) as v:
        in_scratch(v)
        for a, b in itertools.combinations(NAMES, 2):
            what = f'{a} with {b}'
            at_a, at_b = content(v.path(a)), content(v.path(b))
            renameat2(v.path(a), v.path(b), RENAME_EXCHANGE)
            equal(content(v.path(a)), at_b, f'{what}: the first')
            equal(content(v.path(b)), at_a, f'{what}: the second')
            renameat2(v.path(a), v.path(b), RENAME_EXCHANGE)
            equal(content(v.path(a)), at_a, f'{what} and back: the first')
            equal(content(v.path(b)), at_b, f'{what} and back: the second')
        renameat2(v.path('doc/tree'), v.path('build/file'), RENAME_EXCHANGE)
        renameat2(v.path('include/dir'), v.path('build/link'), RENAME_EXCHANGE)
        before = {a: content(v.path(a)) for a in NAMES}
        v.remount()
        equal({a: content(v.path(a)) for a in NAMES}, before, 'after a remount')
        for top in (v.listdir(), os.listdir(v.root), os.listdir(v.scratch + '/upper')):
            true(not [n for n in top if n.startswith('.specfs')], f'nothing aside in {top}')
        equal(read_file(v.root + '/include/t.h'), b'trunk t\n', 'what spec hides is untouched')


def open_files_follow():
    with view(more=MORE) as v:
        in_scratch(v)
        cases = [('doc/tree/in/x', 'doc/tree', 'build/link'), ('doc/t.txt', 'doc/t.txt',
                                                               'build/tree')]
        for rel, a, b in cases:
            fd = os.open(v.path(rel), os.O_RDWR)
            inner = rel[len(a):]
            renameat2(v.path(a), v.path(b), RENAME_EXCHANGE)
            os.pwrite(fd, b'NEW', 0)
            equal(os.pread(fd, 3, 0), b'NEW', f'{rel}: through the descriptor')
            equal(v.read(b + inner)[:3], b'NEW', f'{rel}: under its new name')
            equal(os.fstat(fd).st_ino, os.stat(v.path(b + inner)).st_ino, f'{rel}: one file')
            os.close(fd)


def refusals():
    with view(more=MORE) as v:
        in_scratch(v)
        x = RENAME_EXCHANGE
        fails(errno.ENOENT, renameat2, v.path('doc/t.txt'), v.path('build/none'), x)
        fails(errno.EINVAL, renameat2, v.path('doc/tree'), v.path('doc/tree/in'), x)
        fails(errno.EINVAL, renameat2, v.path('doc/tree/in'), v.path('doc/tree'), x)
        fails(errno.EROFS, renameat2, v.path('.git/HEAD'), v.path('build/file'), x)
        equal(v.read('build/file'), b'scratch file\n', 'a refused exchange')
        true(os.path.exists(v.path('.git/HEAD')), 'a refused exchange')


def directory_that_comes_over_another_shows_what_is_in_that():
    """Also names that were looked for, and absent, in it before."""
    spec = 'third_party/b/spec_cpp/include'
    more = {f'include/c{i}/e': 'e' for i in range(5)}
    more.update({f'{spec}/c{i}': 'file' for i in range(5)})
    with view(more=more) as v:
        for i in range(5):  # the kernel keeps nothing until all is watched
            os.mkdir(v.path(f'include/n{i}'))
            true(not v.exists(f'include/n{i}/e'), f'{i}: absent')
            renameat2(v.path(f'include/n{i}'), v.path(f'include/c{i}'), RENAME_EXCHANGE)
            wait_for(lambda: v.exists(f'include/c{i}/e'), f'{i}: by name')
            equal(v.listdir(f'include/c{i}'), ['e'], f'{i}: listed')
            equal(v.read(f'include/n{i}'), b'file', f'{i}: the file')


main(every_two_names, open_files_follow, refusals,
     directory_that_comes_over_another_shows_what_is_in_that)
