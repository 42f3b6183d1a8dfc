# SPDX-License-Identifier: MIT
"""Listings of odd directories: names that vanish, cannot be looked at, or are many; read in small
pieces, by several at once, while the kernel forgets.  Each name that stays comes exactly once.
"""
import errno
import os
import stat
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from children import forget  # noqa: E402
from daemontree import PLACES, SPEC, shows, view  # noqa: E402
from mounted import equal, fails, main, need_program, run, true, write_file  # noqa: E402
from pieces import Reader  # noqa: E402
from private import as_asked  # noqa: E402



def in_pieces(path, size=1024, between=None):
    """Names of a directory read with a small buffer; @between is called after each piece."""
    r, names = Reader(path, size), []
    try:
        while True:
            piece = [n for n, _, _ in r.batch()]
            if not piece:
                return [x for x in names if x not in ('.', '..')]
            names += piece
            true(len(names) < 200000, 'it comes to an end')
            if between:
                between(piece)
    finally:
        r.close()


def once(names, what):
    equal(len(names), len(set(names)), f'{what}: names, each once')
    return set(names)


def plant_odd(root):
    """Plain, dangling, closed and special names in both parts of a merged directory."""
    for i in range(1500):
        top = f'{root}/{("include", SPEC)[i % 2]}'
        if i % 10 == 0:
            os.symlink('nowhere', f'{top}/n{i}')
        elif i % 10 == 1:
            os.mkdir(f'{top}/n{i}', 0)
        elif i % 10 == 2:
            os.mkfifo(f'{top}/n{i}')
        else:
            write_file(f'{top}/n{i}', '')


def names_that_go_while_it_is_read():
    """Removed in the layer and through the mount, by turns, between two pieces."""
    with view(dirty=plant_odd) as v:
        removed = set()

        def remove(piece):
            for k, name in enumerate(piece[:6]):
                i = int(name[1:]) if name[1:].isdigit() else 1
                if i % 10 in (1, 2) or name in removed:
                    continue
                path = (f'{v.root}/{("include", SPEC)[i % 2]}/{name}' if k % 2 else
                        v.path(f'include/{name}'))
                os.unlink(path)
                removed.add(name)

        names = once(in_pieces(v.path('include'), 512, remove), 'include')
        equal(sorted({f'n{i}' for i in range(1500)} - names), [], 'names that did not come')
        v.cli('sync', v.mnt)
        left = once(os.listdir(v.path('include')), 'afterwards')
        equal(left & removed, set(), 'removed names')
        for i in range(1, 1500, 10):  # so that everything can be removed at the end
            os.chmod(f'{v.root}/{("include", SPEC)[i % 2]}/n{i}', 0o700)


def a_name_removed_after_opendir():
    with view() as v:
        os.mkdir(v.path('build'))
        for place in PLACES:
            os.mkdir(v.path(f'{place}/td'))
            for name in '123':
                v.write(f'{place}/td/{name}', 'x')
            fd = os.open(v.path(f'{place}/td'), os.O_RDONLY | os.O_DIRECTORY)
            os.unlink(v.path(f'{place}/td/2'))
            true(set(os.listdir(fd)) >= {'1', '3'}, f'{place}: those that stay')
            equal(sorted(os.listdir(fd)), ['1', '3'], f'{place}: rewound')
            os.close(fd)
            run(['rm', '-r', v.path(f'{place}/td')])
            true(not v.exists(f'{place}/td'), f'{place}: rm -r')


def many_readers_of_many_names_while_the_kernel_forgets():
    count = 8000
    with view() as v:
        for i in range(count):
            write_file(f'{v.root}/{("include", SPEC)[i % 2]}/many/f{i}', '')
        stop, faults = threading.Event(), []

        def read(size):
            try:
                for _ in range(3):
                    names = in_pieces(v.path('include/many'), size)
                    if len(names) != count or len(set(names)) != count:
                        faults.append((len(names), len(set(names))))
            except Exception as e:
                faults.append(e)

        def go_on_forgetting():
            while not stop.wait(0.02):
                forget('3', wait=False)

        readers = [threading.Thread(target=read, args=(s, )) for s in (512, 4096, 32768)]
        other = threading.Thread(target=go_on_forgetting)
        for t in [other, *readers]:
            t.start()
        for t in readers:
            t.join()
        stop.set()
        other.join()
        equal(faults, [], 'listings with doubles or losses')


def names_that_cannot_be_looked_at_are_listed():
    """A lock file in a directory that may be read and not searched: it is there, and says why."""

    def plant(root):
        for place in ('doc', SPEC):
            write_file(f'{root}/{place}/closed/lock', 'x')
            write_file(f'{root}/{place}/closed/dir/f', 'x')
            os.chmod(f'{root}/{place}/closed', 0o444)

    with view(dirty=plant) as v:
        for place in ('doc', 'include', SPEC):
            equal(v.listdir(f'{place}/closed'), ['dir', 'lock'], place)
            equal(sorted(in_pieces(v.path(f'{place}/closed'))), ['dir', 'lock'], place)
            if os.geteuid() == 0:
                equal(v.read(f'{place}/closed/lock'), b'x', f'{place}: root may')
            else:
                fails(errno.EACCES, os.lstat, v.path(f'{place}/closed/lock'))
        for place in ('doc', SPEC):
            os.chmod(f'{v.root}/{place}/closed', 0o755)
        shows(lambda: v.read('doc/closed/lock'), b'x', 'once it is open')


def links_that_lead_nowhere_are_listed():
    """In a spec directory, where a link to a file is served as the file."""

    def plant(root):
        for name, target in (('loop', 'loop'), ('a', 'b'), ('b', 'a'), ('dangling', 'nowhere'),
                             ('outside', '/etc/passwd'), ('up', '../../../../../../..'),
                             ('dir', '.'), ('good', 's.h')):
            os.symlink(target, f'{root}/{SPEC}/{name}')

    with view(dirty=plant) as v:
        names = v.listdir('include')
        for name in ('loop', 'a', 'b', 'dangling', 'outside', 'up', 'dir', 'good'):
            true(name in names, f'{name} is listed')
            mode = os.lstat(v.path(f'include/{name}')).st_mode
            if name == 'good':
                equal((stat.S_ISREG(mode), v.read('include/good')), (True, b'spec s\n'), name)
            elif name != 'dir':
                true(stat.S_ISLNK(mode), f'{name} stays a link')
        fails(errno.ELOOP, os.stat, v.path('include/loop'))


def tools_agree():
    """ls, find, du, tar and Python list the same names."""
    need_program('ls', 'find', 'tar', 'du')
    with view() as v:
        for i in range(700):
            write_file(f'{v.root}/{("include", SPEC)[i % 2]}/deep/d{i % 7}/f{i}', 'x')
        want = {os.path.relpath(os.path.join(b, n), v.path('include'))
                for b, dirs, names in os.walk(v.path('include')) for n in dirs + names}
        found = run(['find', '.', '-mindepth', '1'], cwd=v.path('include')).stdout.split('\n')[:-1]
        equal({n[2:] for n in found}, want, 'find')
        p = subprocess.run(['tar', 'cf', '-', '-C', v.path('include'), '.'],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True)
        equal(p.stderr, b'', 'tar says nothing changed while it read')
        listed = subprocess.run(['tar', 'tf', '-'], input=p.stdout, stdout=subprocess.PIPE,
                                check=True).stdout.decode().split('\n')[:-1]
        equal({n[2:].rstrip('/') for n in listed} - {''}, want, 'tar')
        lines = run(['ls', '-AR', v.path('include')]).stdout
        true(all(os.path.basename(n) in lines for n in want), 'ls -R')
        equal(run(['du', '-s', '--inodes', v.path('include')]).stdout.split()[0],
              str(len(want) + 1), 'du counts them')


as_asked()
main(names_that_go_while_it_is_read, a_name_removed_after_opendir,
     many_readers_of_many_names_while_the_kernel_forgets,
     names_that_cannot_be_looked_at_are_listed, links_that_lead_nowhere_are_listed, tools_agree)
