# SPDX-License-Identifier: MIT
"""git at work in a view: new repositories anywhere, the whole of git where scratch takes all
writes, linked worktrees and submodules, many shells at once.
"""
import os
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from checks import clean_env, git, need_program, run, snapshot
from everyplace import everywhere
from mounted import TempDir, View, commit_all, equal, main, make_tree, true, wait_for
from private import as_asked

FILES = 400
SPEC = 'third_party/b/spec_cpp/include'


def fill(root, text, count=FILES):
    make_tree({f'src/d{i % 20}/sub/f{i}.c': f'{text} {i}\n' * 20 for i in range(count)}, root)


def two_branches(root):
    """Far from each other: most files differ, some are gone, some are new, some are directories."""
    fill(root, 'one')
    make_tree({'kind': 'a file', 'src/gone/f': 'x'}, root)
    git(root, 'add', '-A')
    git(root, 'commit', '-qm', 'one')
    git(root, 'checkout', '-qb', 'far')
    fill(root, 'two', FILES // 2)
    git(root, 'rm', '-qrf', 'kind', 'src/gone', 'src/d3')
    make_tree({'kind/dir/f': 'a directory', 'new/f': 'x'}, root)
    git(root, 'add', '-A')
    git(root, 'commit', '-qm', 'two')
    git(root, 'checkout', '-q', 'main')


def locks(top):
    return [os.path.join(base, name) for base, _, files in os.walk(top) for name in files
            if name.endswith('.lock')]


def all_of_git_works_where_scratch_takes_it():
    """And the checkout knows nothing of it."""
    with View({'a': 'a\n'}, opts=['-p', 'generic', '--scratch-all'], dirty=two_branches) as v:
        before = snapshot(v.root, skip=())
        at = v.mnt

        def clean(*more):
            equal(git(at, 'status', '--porcelain'), ''.join(more), 'git status')

        clean()
        for branch in ('far', 'main', 'far'):
            git(at, 'checkout', '-q', branch)
            clean()
        equal(v.read('kind/dir/f'), b'a directory', 'a file that became a directory')
        true(not v.exists('src/gone') and not v.exists('src/d3/sub/f3.c'), 'what the branch lacks')
        git(at, 'checkout', '-qb', 'side', 'main')
        make_tree({'side/f': 'side', 'src/d5/sub/f5.c': 'side\n'}, at)
        git(at, 'stash', '-q', '-u')
        clean()
        git(at, 'stash', 'pop', '-q')
        git(at, 'add', '-A')
        git(at, 'commit', '-qm', 'side')
        git(at, 'merge', '-q', '-X', 'theirs', '-m', 'merged', 'far')
        clean()
        equal((v.read('kind/dir/f'), v.read('side/f')), (b'a directory', b'side'), 'merged')
        git(at, 'checkout', '-qb', 'rebased', 'HEAD~1')
        git(at, 'rebase', '-q', '-X', 'theirs', 'far')
        clean()
        git(at, 'reset', '-q', '--hard', 'main')
        git(at, 'clean', '-qfdx')
        git(at, 'gc', '-q', '--aggressive', '--prune=now')
        git(at, 'repack', '-qad')
        git(at, 'worktree', 'add', '-q', os.path.join(v.tmp, 'linked'), 'far')
        git(at, 'worktree', 'add', '-q', os.path.join(at, 'inside'), 'side')
        equal(git(os.path.join(at, 'inside'), 'status', '--porcelain'), '', 'of a worktree')
        git(at, 'clone', '-q', '--local', '.', 'clone')
        equal(git(at, 'fsck', '--full', '--strict'), '', 'fsck')
        equal(locks(at), [], 'lock files')
        v.remount()
        clean('?? clone/\n', '?? inside/\n')
        equal(git(at, 'log', '--format=%s', '-1', 'side'), 'merged\n', 'after a remount')
        equal(snapshot(v.root, skip=()), before, 'the checkout')


def a_repository_can_be_made_anywhere(p):
    """Objects are made read-only and written through the descriptor that made them."""
    fd = os.open(p('object'), os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o444)
    os.write(fd, b'object')
    os.fchmod(fd, 0o400)
    os.rename(p('object'), p('object2'))
    os.write(fd, b' more')
    os.close(fd)
    equal(p.read('object2'), b'object more', 'an object')
    at = p('repo')
    git(p(), 'init', '-q', 'repo')
    fill(at, 'one', 30)
    git(at, 'add', '-A')
    git(at, 'commit', '-qm', 'one')
    git(at, 'checkout', '-qb', 'far')
    fill(at, 'two', 20)
    git(at, 'rm', '-qrf', 'src/d7')
    git(at, 'commit', '-qam', 'two')
    git(at, 'checkout', '-q', 'main')
    git(at, 'merge', '-q', 'far')
    git(at, 'gc', '-q', '--prune=now')
    git(at, 'repack', '-qad')
    git(at, 'clone', '-q', '--local', '.', p('clone'))
    equal(git(at, 'status', '--porcelain'), '', 'git status')
    equal(git(at, 'fsck', '--full'), '', 'fsck')
    equal(git(p('clone'), 'log', '--format=%s'), 'two\none\n', 'log of a clone')
    equal(locks(p()), [], 'lock files')
    run(['rm', '-r', p('repo'), p('clone')])


TREE = {
    'include/t': 'trunk\n',
    SPEC + '/t': 'spec\n',
    'a': 'a\n',
}


def a_linked_worktree_works_as_in_the_checkout():
    """Its .git is a file that names a directory elsewhere."""
    with TempDir() as tmp:
        make_tree(TREE, f'{tmp}/main')
        commit_all(f'{tmp}/main')
        git(f'{tmp}/main', 'worktree', 'add', '-q', f'{tmp}/linked', '-b', 'other')
        with View(None, 'b', root=f'{tmp}/linked', opts=['-p', 'flagtree']) as v:
            equal(git(v.mnt, 'rev-parse', '--show-toplevel'), f'{v.mnt}\n', 'top level')
            equal(git(v.mnt, 'status', '--porcelain', '-uno'), ' M include/t\n', 'status')
            git(v.mnt, 'fetch', '-q')
            make_tree({'a': 'changed\n'}, v.mnt)
            git(v.mnt, 'commit', '-qm', 'from the view', 'a')
            equal(git(v.root, 'log', '--format=%s', '-1'), 'from the view\n', 'in the checkout')
            equal(git(v.root, 'status', '--porcelain'), '', 'status of the checkout')
            equal(git(f'{tmp}/main', 'fsck'), '', 'fsck')


def a_submodule_works_beside_the_checkout():
    """Its .git names a directory relative to it: found where views are mounted by default."""
    with TempDir() as tmp:
        make_tree(TREE, f'{tmp}/main')
        commit_all(f'{tmp}/main')
        make_tree({'x': 'x'}, f'{tmp}/super')
        commit_all(f'{tmp}/super')
        git(f'{tmp}/super', '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add',
            f'{tmp}/main', 'sub')
        git(f'{tmp}/super', 'commit', '-qm', 'sub')
        root, at = f'{tmp}/super/sub', f'{tmp}/super/sub-b'
        with View(None, 'b', root=root, opts=['-p', 'flagtree'], mount=False) as v:
            v.mnt = at
            os.mkdir(at)
            v.mount()
            equal(v.read('include/t'), b'spec\n', 'the view')
            equal(git(at, 'log', '--format=%s'), 'initial state\n', 'log')
            make_tree({'a': 'changed\n'}, at)
            equal(git(at, 'status', '--porcelain'), ' M a\n', 'status, of the checkout')
            git(at, 'commit', '-qam', 'from the view')
            equal(git(root, 'status', '--porcelain'), '', 'status of the checkout')
            v.umount()


def prompts_in_many_shells_do_not_stop_each_other():
    """Each looks for .git upwards and asks for the status, while the tree is looked through."""
    with View({'a': 'a\n'}, opts=['-p', 'generic'], dirty=two_branches) as v:
        faults = []

        def prompt():
            try:
                for _ in range(3):
                    run(['git', '-c', 'safe.directory=*', 'status', '-sb'],
                        cwd=v.path('src/d1/sub'), env=clean_env(), limit_sec=60)
            except AssertionError as e:
                faults.append(str(e))

        shells = [threading.Thread(target=prompt) for _ in range(4)]
        for s in shells:
            s.start()
        for branch in ('far', 'main'):
            v.git('checkout', '-q', branch)
        for s in shells:
            s.join()
        equal(faults, [], 'faults')
        wait_for(lambda: git(v.mnt, 'status', '--porcelain') == '', 'a clean status in the end')


need_program('git')
as_asked()
main(all_of_git_works_where_scratch_takes_it, a_linked_worktree_works_as_in_the_checkout,
     a_submodule_works_beside_the_checkout, prompts_in_many_shells_do_not_stop_each_other,
     *everywhere(a_repository_can_be_made_anywhere))
