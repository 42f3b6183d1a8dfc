# SPDX-License-Identifier: MIT
"""What a view may not change does not change, whatever is tried; nor what is outside its layers."""
import errno
import mmap
import os
import shutil
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from checks import read_file, run, write_file
from everyplace import SPEC, everywhere
from mounted import View, equal, fails, main, true
from private import as_asked

RACE_SEC = 3
TREE = {
    '.gitignore': '/ignored/\n',
    'doc/t.txt': 'trunk\n',
    'doc/link': ('link', 't.txt'),
    'doc/d/f': 'trunk f\n',
    'include/t.txt': 'trunk\n',
    'include/both.txt': 'trunk both\n',
    'include/link': ('link', 't.txt'),
    'include/d/f': 'trunk f\n',
    'ignored/t.txt': 'ignored\n',
    'ignored/link': ('link', 't.txt'),
    'ignored/d/f': 'ignored f\n',
    SPEC + '/both.txt': 'spec both\n',
    'third_party/c/spec_cpp/include/t.txt': 'of another backend\n',
    'third_party/c/spec_cpp/include/link': ('link', 't.txt'),
    'third_party/c/spec_cpp/include/d/f': 'of another backend\n',
}
PROFILE = '''
[profile]
name = own
backends = third_party/*/
[map include]
at = include
from = third_party/${backend}/spec_cpp/include
[write]
/ignored = scratch
/** = deny
'''


def exact(top):
    """All that a layer's file system says of each object but when it was read."""
    out = {}
    for base, dirs, files in os.walk(top):
        for path in [base] + [os.path.join(base, n) for n in dirs + files]:
            st = os.lstat(path)
            data = None
            if os.path.islink(path):
                data = os.readlink(path)
            elif os.path.isfile(path):
                data = read_file(path)
            out[path] = (st.st_mode, st.st_uid, st.st_gid, st.st_nlink, st.st_size, st.st_ino,
                         st.st_mtime_ns, st.st_ctime_ns, data,
                         sorted(os.listxattr(path, follow_symlinks=False)))
    return out


def write_map(path):
    """By a shared map; what cannot be written must be told by msync."""
    fd = os.open(path, os.O_RDWR)
    try:
        with mmap.mmap(fd, os.fstat(fd).st_size) as m:
            m[:1] = b'X'
            m.flush()
    finally:
        os.close(fd)


def write(path, flags=os.O_WRONLY):
    fd = os.open(path, flags)
    try:
        os.write(fd, b'x')
    finally:
        os.close(fd)


def attempts(at):
    """Every way to change a file, its directory and what is in it."""
    t = f'{at}/t.txt'
    yield 'write', lambda: write(t)
    yield 'append', lambda: write(t, os.O_WRONLY | os.O_APPEND)
    yield 'read and write', lambda: write(t, os.O_RDWR)
    yield 'open with truncation', lambda: write(t, os.O_WRONLY | os.O_TRUNC)
    yield 'truncate', lambda: os.truncate(t, 0)
    yield 'grow', lambda: os.truncate(t, 1000)
    yield 'map', lambda: write_map(t)
    yield 'through a link', lambda: write(f'{at}/link')
    yield 'mode', lambda: os.chmod(t, 0o600)
    yield 'owner', lambda: os.chown(t, os.getuid() + 1, -1)
    yield 'time', lambda: os.utime(t, (5, 5))
    yield 'attribute', lambda: os.setxattr(t, 'user.k', b'v')
    yield 'link', lambda: os.link(t, f'{at}/hard')
    yield 'write by the link', lambda: write(f'{at}/hard')
    yield 'symlink over it', lambda: run(['ln', '-sf', 'x', t])
    yield 'rename', lambda: os.rename(f'{at}/d', f'{at}/e')
    yield 'rename back', lambda: os.rename(f'{at}/e', f'{at}/d')
    yield 'replace', lambda: os.rename(f'{at}/link', t)
    yield 'remove', lambda: os.unlink(t)
    yield 'new file', lambda: write(f'{at}/new', os.O_WRONLY | os.O_CREAT)
    yield 'new directory', lambda: os.mkdir(f'{at}/newd')
    yield 'new fifo', lambda: os.mkfifo(f'{at}/fifo')
    yield 'mode of a directory', lambda: os.chmod(f'{at}/d', 0o700)
    yield 'remove a tree', lambda: shutil.rmtree(f'{at}/d')
    yield 'mode of this', lambda: os.chmod(at, 0o700)
    yield 'time of this', lambda: os.utime(at, (5, 5))


def try_all(v, places):
    """{attempt: name of the error, or 'done'}"""
    out = {}
    for place in places:
        for what, call in attempts(v.path(place)):
            try:
                call()
                out[f'{place}: {what}'] = 'done'
            except OSError as e:
                out[f'{place}: {what}'] = errno.errorcode[e.errno]
            except AssertionError:
                out[f'{place}: {what}'] = 'EROFS'  # as a program put it
    return out


def fail_alike(got, allowed):
    odd = {what: how for what, how in got.items() if how not in allowed}
    equal(odd, {}, f'what did not end in {allowed}')


def nothing_changes_in_a_read_only_view():
    with View(TREE, 'b', opts=['-p', 'flagtree', '-r']) as v:
        before = exact(v.root)
        # what the first attempts would have made is not there for later ones
        fail_alike(try_all(v, ('doc', 'include', 'ignored', 'third_party/c/spec_cpp/include')),
                   ('EROFS', 'ENOENT'))
        v.umount()
        equal(exact(v.root), before, 'the checkout')


def nothing_changes_where_a_rule_forbids_it():
    with View(dict(TREE, **{'.specfs.ini': PROFILE}), 'b') as v:
        before = exact(v.root)
        fail_alike(try_all(v, ('doc', 'include', 'third_party/c/spec_cpp/include')),
                   ('EROFS', 'ENOENT', 'EPERM'))
        for call in (os.link, os.rename):
            fails(errno.EROFS, call, v.path('doc/t.txt'), v.path('ignored/alias'))
        done = try_all(v, ('ignored', ))
        true('done' in done.values(), f'elsewhere things can be done: {done}')
        v.umount()
        equal(exact(v.root), before, 'the checkout')


def the_checkout_stays_as_it_is_under_scratch():
    """Whatever is done in a view that writes to scratch alone."""
    with View(TREE, 'b', opts=['-p', 'flagtree', '--scratch-all']) as v:
        before = exact(v.root)
        got = try_all(v, ('doc', 'include', 'ignored', 'third_party/c/spec_cpp/include'))
        fail_alike(got, ('done', 'EPERM') if os.geteuid() else ('done', ))
        v.remount()
        v.umount()
        equal(exact(v.root), before, 'the checkout')


def no_alias_leads_into_the_trunk(p):
    """A hard link made in the view is either of a file that may be written, or is not made."""
    before = {name: read_file(f'{p.trunk}/{name}') for name in ('t.txt', 'both.txt', 'td/1')}
    for number, name in enumerate(before):
        for target in (p(f'alias{number}'), p.v.path(f'ignored/alias-{p.name}{number}')):
            try:
                os.link(p(name), target)
            except OSError as e:
                true(e.errno in (errno.EXDEV, errno.ENOENT), f'{name} to {target}: {e}')
                continue
            write(target, os.O_WRONLY | os.O_APPEND)
            if p.kept:
                equal(read_file(f'{p.trunk}/{name}'), before[name], f'{name}, after {target}')
            os.unlink(target)


def the_daemon_follows_no_link_out_of_a_layer():
    """A directory of a layer becomes a link while files are made and changed below it.

    The link's text leads out of the checkout, but nowhere from the view: whoever follows it is the
    daemon.
    """
    with View(TREE, 'b', opts=['-p', 'flagtree'], at='a/b/mnt') as v:
        outside = os.path.join(v.tmp, 'outside')
        write_file(f'{outside}/f', 'outside\n')
        write_file(f'{outside}/victim', 'outside\n')
        before = exact(outside)
        end = time.monotonic() + RACE_SEC
        swaps = []

        def put(source, d):
            """Rename, over what the view has made there meanwhile."""
            while True:
                try:
                    return os.rename(source, d)
                except OSError as e:
                    true(e.errno in (errno.EISDIR, errno.ENOTEMPTY, errno.ENOTDIR), str(e))
                    shutil.rmtree(d, ignore_errors=True)

        def swap():
            for place in ('doc', 'include'):
                os.symlink('../../outside', f'{v.root}/{place}/out')
            while time.monotonic() < end:
                for place in ('doc', 'include'):
                    d = f'{v.root}/{place}/d'
                    os.rename(d, d + '.real')
                    put(f'{v.root}/{place}/out', d)
                    os.rename(d, f'{v.root}/{place}/out')
                    put(d + '.real', d)
                swaps.append(1)

        swapper = threading.Thread(target=swap)
        swapper.start()
        calls = (lambda d: write(f'{d}/new', os.O_WRONLY | os.O_CREAT),
                 lambda d: write(f'{d}/victim', os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
                 lambda d: write(f'{d}/f', os.O_WRONLY | os.O_APPEND),
                 lambda d: os.chmod(f'{d}/f', 0o600),
                 lambda d: os.truncate(f'{d}/f', 0),
                 lambda d: os.setxattr(f'{d}/f', 'user.k', b'v'),
                 lambda d: os.rename(f'{d}/new', f'{d}/new2'),
                 lambda d: os.link(f'{d}/f', f'{d}/hard'),
                 lambda d: os.mkdir(f'{d}/sub'),
                 lambda d: os.rmdir(f'{d}/sub'),
                 lambda d: os.listdir(d),
                 lambda d: [os.unlink(f'{d}/{n}') for n in ('new2', 'hard', 'victim', 'f')])
        done = 0
        try:
            while time.monotonic() < end:
                for call in calls:
                    try:
                        call(v.path('doc/d' if done % 2 else 'include/d'))
                    except OSError:
                        pass  # gone, or a link that leads nowhere
                    done += 1
        finally:
            swapper.join()
        true(len(swaps) > 10 and done > 100, f'{len(swaps)} swaps, {done} calls')
        equal(exact(outside), before, 'what lies outside')
        equal(v.read('doc/t.txt'), b'trunk\n', 'the view is alive')


as_asked()
main(nothing_changes_in_a_read_only_view, nothing_changes_where_a_rule_forbids_it,
     the_checkout_stays_as_it_is_under_scratch, the_daemon_follows_no_link_out_of_a_layer,
     *everywhere(no_alias_leads_into_the_trunk))
