# SPDX-License-Identifier: MIT
"""Traps of a kernel that asks for nothing it has cached: each is a way in which a FUSE file system
goes stale, tears something off or loses a change without an error.
"""
import errno
import json
import mmap
import os
import re
import shutil
import signal
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, 'lib'))

from checks import unmount  # noqa: E402
from daemontree import PLACES, SPEC, shows, view  # noqa: E402
from mounted import (Skip, equal, fails, main, need_program, read_file, run, true,  # noqa: E402
                     wait_for, write_file)
from routes import files  # noqa: E402

PAGE = mmap.PAGESIZE


def status(v):
    return json.loads(v.read('.specfs/status'))


def listed(v, place):
    """The names alone: nothing is looked up."""
    return sorted(os.listdir(v.path(place)))


def a_name_that_nobody_asked_for_is_listed():
    """The kernel has the listing and not the name: it says ENOENT to the news of the name."""
    with view() as v:
        for place, part in (('doc', 'doc'), ('include', SPEC), ('include', 'include')):
            before = listed(v, place)
            for i in range(20):
                st = os.stat(f'{v.root}/{part}')
                write_file(f'{v.root}/{part}/fresh', 'x')
                os.utime(f'{v.root}/{part}', ns=(st.st_atime_ns, st.st_mtime_ns))
                shows(lambda: listed(v, place), sorted(before + ['fresh']), f'{part} {i}: made')
                os.unlink(f'{v.root}/{part}/fresh')
                os.utime(f'{v.root}/{part}', ns=(st.st_atime_ns, st.st_mtime_ns))
                shows(lambda: listed(v, place), before, f'{part} {i}: removed')


def a_merged_directory_has_the_latest_time():
    with view() as v:
        for part in (SPEC, 'include', SPEC):
            before = os.stat(v.path('include')).st_mtime_ns
            os.utime(f'{v.root}/{part}', ns=(0, before + 10**9))
            wait_for(lambda: os.stat(v.path('include')).st_mtime_ns == before + 10**9, part)


def cut_and_made_longer_it_has_zeros():
    """Size and perhaps time are as before: the pages must go all the same."""
    with view() as v:
        for name, real in (('doc/t.txt', 'doc/t.txt'), ('include/both.h', f'{SPEC}/both.h')):
            real = f'{v.root}/{real}'
            write_file(real, 'x' * 3 * PAGE)
            shows(lambda: v.read(name), b'x' * 3 * PAGE, f'{name}: before')
            st = os.stat(real)
            os.truncate(real, PAGE)
            os.truncate(real, 3 * PAGE)
            os.utime(real, ns=(st.st_atime_ns, st.st_mtime_ns))
            shows(lambda: v.read(name) == b'x' * PAGE + bytes(2 * PAGE), True, f'{name}: zeros')


def own_writes_do_not_hide_foreign_ones():
    """Both sides write one page by turns; who compares times takes the foreign write for its own"""
    with view() as v:
        for name, real in (('doc/t.txt', 'doc/t.txt'), ('include/both.h', f'{SPEC}/both.h')):
            write_file(f'{v.root}/{real}', 'a' * 10 + 'b' * 10)
            shows(lambda: v.read(name), b'a' * 10 + b'b' * 10, name)
            mine = os.open(v.path(name), os.O_RDWR)
            theirs = os.open(f'{v.root}/{real}', os.O_RDWR)
            for i in range(100):
                os.pwrite(mine, b'm%09d' % i, 0)
                os.pwrite(theirs, b't%09d' % i, 10)
                os.pwrite(mine, b'M%09d' % i, 0)
                shows(lambda: os.pread(mine, 30, 0), b'M%09dt%09d' % (i, i), f'{name}: {i}')
            os.close(mine)
            os.close(theirs)


def what_stays_is_not_torn_off():
    """A mount and a working directory in the view survive edits of what they are in."""
    if not os.environ.get('SPECFS_TEST_PRIVATE'):
        raise Skip('needs a mount namespace of its own')
    with view() as v:
        here = os.getcwd()
        run(['mount', '-t', 'tmpfs', 'none', v.path('doc/sub')])
        try:
            write_file(v.path('doc/sub/on-top'), 'x')
            os.chdir(v.path('include'))
            for i in range(30):
                for part in (f'{v.root}/doc', f'{v.root}/doc/sub', f'{v.root}/include',
                             f'{v.root}/{SPEC}'):
                    write_file(f'{part}/n{i}', 'x')
                    os.chmod(part, 0o755 if i % 2 else 0o700)
                    os.utime(part, (i, i))
                    if i % 3 == 0:
                        os.unlink(f'{part}/n{i}')
            os.unlink(f'{v.root}/{SPEC}/both.h')
            v.cli('sync', v.mnt)
            equal(os.getcwd(), v.path('include'), 'the working directory')
            true('n29' in os.listdir('.'), 'what it lists')
            equal(os.listdir(v.path('doc/sub')), ['on-top'], 'the mount is there')
            shutil.rmtree(f'{v.root}/{SPEC}')
            v.cli('sync', v.mnt)
            equal(os.getcwd(), v.path('include'), 'with one of its two parts gone')
            equal(open('t.h', encoding='utf-8').read(), 'trunk t\n', 'what is in it')
        finally:
            os.chdir(here)
            unmount(v.path('doc/sub'))


def an_open_file_removed_underneath_has_no_links():
    with view() as v:
        for name, real in (('doc/t.txt', 'doc/t.txt'), ('include/s.h', f'{SPEC}/s.h')):
            fd = os.open(v.path(name), os.O_RDONLY)
            old = os.pread(fd, 100, 0)
            os.unlink(f'{v.root}/{real}')
            wait_for(lambda: not v.exists(name), f'{name}: gone')
            shows(lambda: os.fstat(fd).st_nlink, 0, f'{name}: links')
            equal(os.pread(fd, 100, 0), old, f'{name}: content')
            os.close(fd)


def truncation_by_open_is_not_lost():
    """A kernel that may leave O_TRUNC to an OPEN that never comes would keep the old data."""
    with view() as v:
        for way, (name, real) in files(v).items():
            for flags in (os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_APPEND,
                          os.O_WRONLY | os.O_CREAT):
                v.write(name, 'long old content\n')
                fd = os.open(v.path(name), flags | os.O_TRUNC)
                equal(os.stat(real).st_size, 0, f'{way}: the layer, flags {flags:#o}')
                os.write(fd, b'new')
                os.close(fd)
                equal(read_file(real), b'new', f'{way}: content, flags {flags:#o}')


def program(path, seconds='60'):
    """A copy of sleep(1) that runs from @path."""
    p = subprocess.Popen([path, seconds])
    wait_for(lambda: os.path.realpath(f'/proc/{p.pid}/exe') == os.path.realpath(path), 'it runs')
    return p


def stop(p):
    p.send_signal(signal.SIGKILL)
    p.wait()


def a_running_program_is_not_written_to():
    sleep = shutil.which('sleep')
    with view() as v:
        os.mkdir(v.path('build'))
        for place in PLACES:
            path = v.path(f'{place}/prog')
            shutil.copy(sleep, path)
            p = program(path)
            for flags in (os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_TRUNC):
                fails(errno.ETXTBSY, os.open, path, flags)
            fails(errno.ETXTBSY, os.truncate, path, 0)
            write_file(path + '.new', read_file(sleep))
            os.rename(path + '.new', path)  # the way to do it
            stop(p)
            os.truncate(path, 0)


def a_program_that_runs_underneath_is_not_written_to():
    """The open succeeds, for the kernel does not ask; the write says why it can't be."""
    sleep = shutil.which('sleep')
    with view(dirty=lambda root: shutil.copy(sleep, f'{root}/doc/prog')) as v:
        p = program(f'{v.root}/doc/prog')
        try:
            before = read_file(f'{v.root}/doc/prog')
            try:
                fd = os.open(v.path('doc/prog'), os.O_RDWR)
                fails(errno.ETXTBSY, os.pwrite, fd, b'x', 0)
                os.close(fd)
            except OSError as e:
                equal(e.errno, errno.ETXTBSY, 'or the open')
            fails(errno.ETXTBSY, os.truncate, v.path('doc/prog'), 10)
            true(read_file(f'{v.root}/doc/prog') == before, 'it is untouched')
        finally:
            stop(p)


def a_written_program_runs_by_either_path():
    """In the view at once; underneath once the daemon has closed it, which takes about a second."""
    with view() as v:
        for way, (name, real) in files(v).items():
            for i in range(20):
                with open(v.path(name), 'w') as f:
                    f.write(f'#!/bin/sh\nexit {i}\n')
                os.chmod(v.path(name), 0o755)
                equal(subprocess.call([v.path(name)]), i, f'{way}: in the view')
            script = shutil.copy(shutil.which('true'), v.path(name))

            def runs(path=real):
                try:
                    return subprocess.call([path]) == 0
                except OSError as e:
                    equal(e.errno, errno.ETXTBSY, f'{way}: underneath')
                    return False

            equal(subprocess.call([script]), 0, f'{way}: a binary in the view')
            wait_for(runs, f'{way}: underneath')


def times_are_the_layers_own():
    """After each kind of change: what the view says, a look at the layer says, too."""
    with view() as v:
        for way, (name, real) in files(v).items():
            path = v.path(name)
            fd = os.open(path, os.O_RDWR)
            number = os.fstat(fd).st_ino
            changes = {
                'write': lambda: os.pwrite(fd, b'x', 0),
                'append': lambda: os.pwrite(fd, b'x', os.fstat(fd).st_size),
                'truncate': lambda: os.ftruncate(fd, 3),
                'chmod': lambda: os.fchmod(fd, 0o600),
                'chown': lambda: os.fchown(fd, os.getuid(), os.getgid()),
                'utimes': lambda: os.utime(fd, ns=(10**18 + 1, 10**18 + 2)),
                'write after utimes': lambda: os.pwrite(fd, b'y', 1),
                'xattr': lambda: os.setxattr(fd, 'user.a', b'1'),
                'link': lambda: os.link(path, path + '.link'),
                'unlink': lambda: os.unlink(path + '.link'),
                'allocate': lambda: os.posix_fallocate(fd, 0, 10000),
            }
            for what, change in changes.items():
                change()
                a, b = os.fstat(fd), os.stat(real)
                for key in ('st_mtime_ns', 'st_ctime_ns', 'st_size', 'st_mode', 'st_nlink',
                            'st_blocks'):
                    equal(getattr(a, key), getattr(b, key), f'{way}: {key} after {what}')
                equal(a.st_ino, number, f'{way}: st_ino after {what}')
                equal(os.stat(path).st_mtime_ns, b.st_mtime_ns, f'{way}: by name after {what}')
            os.close(fd)


def a_symlink_has_its_new_target():
    """Targets are cached; a link with another target is another link."""
    with view() as v:
        os.mkdir(v.path('build'))
        for i in range(40):
            os.symlink(f'target-{i}', f'{v.root}/doc/l.new')
            os.rename(f'{v.root}/doc/l.new', f'{v.root}/doc/link')
            shows(lambda: os.readlink(v.path('doc/link')), f'target-{i}', 'made underneath')
            for place in ('build', 'doc'):
                os.symlink(f'own-{i}', v.path(f'{place}/own.new'))
                os.rename(v.path(f'{place}/own.new'), v.path(f'{place}/own'))
                equal(os.readlink(v.path(f'{place}/own')), f'own-{i}', f'made in {place}')
                equal(os.lstat(v.path(f'{place}/own')).st_size, len(f'own-{i}'), 'its length')


def made_files_open(pid):
    names = []
    for n in os.listdir(f'/proc/{pid}/fd'):
        try:
            names.append(os.readlink(f'/proc/{pid}/fd/{n}'))
        except FileNotFoundError:
            continue
    return [n for n in names if re.search('/made[0-9]', n)]


def creations_leave_no_descriptors():
    """RELEASE never comes: what CREATE opened is closed all the same."""
    with view() as v:
        os.mkdir(v.path('build'))
        for place in PLACES:
            for i in range(100):
                fd = os.open(v.path(f'{place}/made{i}'), os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o444)
                os.write(fd, b'x')
                os.close(fd)
        wait_for(lambda: status(v)['cache']['open_files'] == 0, 'files are closed')
        wait_for(lambda: not made_files_open(status(v)['pid']), 'descriptors are closed')


def a_directory_keeps_its_readers_position():
    """Names have their offsets for good: seekdir works although names came and went."""
    need_program('ls')
    with view() as v:
        for i in range(500):
            write_file(f'{v.root}/{"include" if i % 2 else SPEC}/f{i:03}', '')
        shows(lambda: len(v.listdir('include')), 503, 'all')
        with os.scandir(v.path('include')) as it:
            first = [next(it).name for _ in range(50)]
            for i in range(0, 500, 3):
                top = f'{v.root}/{"include" if i % 2 else SPEC}'
                os.unlink(f'{top}/f{i:03}')
            v.cli('sync', v.mnt)
            rest = [e.name for e in it]
        names = first + rest
        equal(len(names), len(set(names)), 'names, each once')
        stay = {f'f{i:03}' for i in range(500) if i % 3}
        equal(sorted(stay - set(names)), [], 'names that stayed and did not come')


main(a_name_that_nobody_asked_for_is_listed, a_merged_directory_has_the_latest_time,
     cut_and_made_longer_it_has_zeros, own_writes_do_not_hide_foreign_ones,
     what_stays_is_not_torn_off, an_open_file_removed_underneath_has_no_links,
     truncation_by_open_is_not_lost, a_running_program_is_not_written_to,
     a_program_that_runs_underneath_is_not_written_to, a_written_program_runs_by_either_path,
     times_are_the_layers_own, a_symlink_has_its_new_target, creations_leave_no_descriptors,
     a_directory_keeps_its_readers_position)
