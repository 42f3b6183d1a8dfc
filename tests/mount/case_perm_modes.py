# SPDX-License-Identifier: MIT
"""Modes: what a file or directory closed to its owner still allows is what it allows natively."""
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from checks import run
from everyplace import everywhere
from mounted import equal, main
from native import as_natively
from private import as_asked

FILES = ('t.txt', 'both.txt', 'td/1', 'new')


def shell(text, at):
    """Status of a shell's line, run in a directory."""
    return run(['sh', '-c', text], cwd=at(), ok=None).returncode


def mode(path):
    return os.lstat(path).st_mode & 0o7777


def append(path):
    with open(path, 'a') as f:
        f.write('x')


def a_closed_file_can_be_changed_by_name(p):

    def steps(at):
        yield 'new file', lambda: append(at('new'))
        for f in FILES:
            yield f'{f}: close', lambda f=f: os.chmod(at(f), 0)
            yield f'{f}: read', lambda f=f: open(at(f)).close()
            yield f'{f}: append', lambda f=f: append(at(f))
            yield f'{f}: time', lambda f=f: os.utime(at(f), (5, 5))
            yield f'{f}: touch', lambda f=f: shell(f'touch {f}', at)
            yield f'{f}: owner', lambda f=f: os.chown(at(f), os.getuid(), os.getgid())
            yield f'{f}: attribute', lambda f=f: os.setxattr(at(f), 'user.k', b'v')
            yield f'{f}: truncate', lambda f=f: os.truncate(at(f), 0)
            yield f'{f}: rename', lambda f=f: os.rename(at(f), at(f + '2'))
            yield f'{f}: link', lambda f=f: os.link(at(f + '2'), at(f))
            yield f'{f}: remove', lambda f=f: os.unlink(at(f + '2'))
            yield f'{f}: mode', lambda f=f: mode(at(f))
            yield f'{f}: open it again', lambda f=f: os.chmod(at(f), 0o600)
            yield f'{f}: write', lambda f=f: append(at(f))
            yield f'{f}: close again', lambda f=f: os.chmod(at(f), 0)
            yield f'{f}: remove', lambda f=f: os.unlink(at(f))

    as_natively(p, steps)


def directories_are_made_with_any_mode(p):

    def steps(at):
        for m in (0o555, 0o000, 0o500, 0o111, 0o300, 0o1777, 0o2775):
            d = f'd{m:o}'
            yield f'{d}: make', lambda d=d, m=m: shell(f'mkdir -m {m:o} {d}', at)
            yield f'{d}: mode', lambda d=d: mode(at(d))
            yield f'{d}: list', lambda d=d: os.listdir(at(d))
            yield f'{d}: make in it', lambda d=d: append(at(f'{d}/f'))
            yield f'{d}: remove from it', lambda d=d: os.unlink(at(f'{d}/f'))
            yield f'{d}: rename', lambda d=d: os.rename(at(d), at(d + 'x'))
            yield f'{d}: move', lambda d=d: os.rename(at(d + 'x'), at(f'td/{d}'))
            yield f'{d}: back', lambda d=d: os.rename(at(f'td/{d}'), at(d))
            yield f'{d}: remove', lambda d=d: os.rmdir(at(d))
            yield f'{d}: remove, if it was moved', lambda d=d: os.rmdir(at(d + 'x'))
        yield 'install', lambda: shell('install -d -m 0500 i/j', at)
        yield 'its modes', lambda: (mode(at('i')), mode(at('i/j')))
        yield 'masked', lambda: shell('umask 0777; touch f; mkdir d', at)
        yield 'their modes', lambda: (mode(at('f')), mode(at('d')))
        yield 'remove', lambda: shell('rmdir d i/j i; rm -f f', at)

    as_natively(p, steps)


def a_layers_directory_can_be_closed(p):

    def steps(at):
        for d in ('td', 'md', 'td/sub'):
            for m in (0o555, 0o111, 0o333, 0o000):
                what = f'{d}, {m:o}'
                yield f'{what}: close', lambda d=d, m=m: os.chmod(at(d), m)
                yield f'{what}: mode', lambda d=d: mode(at(d))
                yield f'{what}: list', lambda d=d: len(os.listdir(at(d)))
                yield f'{what}: make in it', lambda d=d: append(at(f'{d}/new'))
                yield f'{what}: read from it', lambda d=d: open(at(f'{d}/1')).close()
                yield f'{what}: write in it', lambda d=d: append(at(f'{d}/1'))
                yield f'{what}: remove from it', lambda d=d: os.unlink(at(f'{d}/2'))
                yield f'{what}: remove all', lambda d=d: shell(f'rm -rf {d}', at) and None
                yield f'{what}: open', lambda d=d: os.chmod(at(d), 0o755)
                yield f'{what}: again', lambda d=d: shell(f'mkdir -p {d}; echo > {d}/1', at)

    as_natively(p, steps)


def special_bits_are_kept(p):

    def steps(at):
        for name, m in (('td', 0o2775), ('md', 0o1777), ('t.txt', 0o4755), ('both.txt', 0o2755),
                        ('empty', 0o3770)):
            yield f'{name}: set', lambda name=name, m=m: os.chmod(at(name), m)
            yield f'{name}: mode', lambda name=name: mode(at(name))
        yield 'in a set-gid directory', lambda: os.mkdir(at('td/d'))
        yield 'its mode', lambda: mode(at('td/d'))
        yield 'written', lambda: append(at('t.txt'))
        yield 'mode after a write', lambda: mode(at('t.txt'))
        yield 'truncated', lambda: os.truncate(at('both.txt'), 1)
        yield 'mode after that', lambda: mode(at('both.txt'))
        yield 'owner', lambda: os.chown(at('both.txt'), os.getuid(), os.getgid())
        yield 'mode after a new owner', lambda: mode(at('both.txt'))

    as_natively(p, steps)


def a_closed_tree_is_moved_and_removed(p):

    def steps(at):
        yield 'close', lambda: shell('chmod -R a-w td md', at)
        yield 'rename', lambda: os.rename(at('td'), at('td2'))
        yield 'rename a file in it', lambda: os.rename(at('td2/1'), at('td2/9'))
        yield 'remove', lambda: shell('rm -rf td2', at) and None
        yield 'open', lambda: shell('chmod -R u+w td2 md', at) and None
        yield 'list', lambda: sorted(os.listdir(at()))

    as_natively(p, steps)
    for name in p.names():
        if os.path.isdir(p(name)) and not os.path.islink(p(name)):
            shutil.rmtree(p(name))
        else:
            os.unlink(p(name))
    equal(p.names(), [], 'names')


as_asked()
main(*everywhere(a_closed_file_can_be_changed_by_name, directories_are_made_with_any_mode,
                 a_layers_directory_can_be_closed, special_bits_are_kept,
                 a_closed_tree_is_moved_and_removed))
