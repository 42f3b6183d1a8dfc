# SPDX-License-Identifier: MIT
"""O_TMPFILE makes a file without a name that can be given one; or says EOPNOTSUPP."""
import errno
import os
import tempfile

from daemontree import PLACES, SPEC, view
from linux import link_open as name
from mounted import Skip, equal, fails, main, read_file, run, true


def nameless(path, flags=os.O_RDWR, mode=0o640):
    return os.open(path, os.O_TMPFILE | flags, mode)


def need(v):
    try:
        os.close(nameless(v.path('doc')))
    except OSError as e:
        equal(e.errno, errno.EOPNOTSUPP, 'errno without O_TMPFILE')
        raise Skip('no O_TMPFILE through this libfuse and kernel') from None


def a_program_finds_another_way():
    with view() as v:
        with tempfile.TemporaryFile(dir=v.path('doc')) as f:
            f.write(b'x')
            f.seek(0)
            equal(f.read(), b'x', 'a temporary file')
        equal(v.listdir('doc'), ['sub', 't.txt'], 'names')


def it_gets_a_name_anywhere():
    with view() as v:
        need(v)
        os.mkdir(v.path('build'))
        for a in PLACES:
            for b in PLACES:
                what = f'{a} to {b}'
                before = v.listdir(a)
                fd = nameless(v.path(a))
                os.write(fd, b'text')
                equal(v.listdir(a), before, f'{what}: it has no name')
                st = os.fstat(fd)
                equal((st.st_nlink, st.st_size, st.st_mode & 0o777), (0, 4, 0o640), what)
                name(fd, v.path(f'{b}/from-{a}'))
                os.write(fd, b' more')
                equal(v.read(f'{b}/from-{a}'), b'text more', what)
                equal(os.fstat(fd).st_nlink, 1, f'{what}: links')
                true(os.path.samestat(os.fstat(fd), os.stat(v.path(f'{b}/from-{a}'))), what)
                fails(errno.EEXIST, name, fd, v.path(f'{b}/from-{a}'))
                os.close(fd)
        equal(read_file(f'{v.root}/doc/from-build'), b'text more', 'in the checkout')
        equal(read_file(f'{v.root}/{SPEC}/from-doc'), b'text more', 'a specialization')
        v.remount()
        for a in PLACES:
            for b in PLACES:
                equal(v.read(f'{b}/from-{a}'), b'text more', f'{a} to {b}, remounted')


def what_must_not_be_named_is_not():
    with view() as v:
        need(v)
        fd = nameless(v.path('doc'), os.O_RDWR | os.O_EXCL)
        fails(errno.ENOENT, name, fd, v.path('doc/named'))
        os.close(fd)
        fails(errno.EROFS, nameless, v.path('.git'))
        with open(v.path('doc/t.txt'), 'rb') as f:
            os.unlink(v.path('doc/t.txt'))
            fails(errno.ENOENT, name, f.fileno(), v.path('doc/again'))
        fd = nameless(v.path('doc'), mode=0)
        os.write(fd, b'x')
        equal(os.pread(fd, 1, 0), b'x', 'without permissions')
        name(fd, v.path('doc/closed'))
        os.close(fd)
        os.unlink(v.path('doc/closed'))


def a_crash_leaves_nothing():
    with view() as v:
        need(v)
        before = sorted(os.listdir(v.root + '/doc'))
        fd = nameless(v.path('doc'))
        os.write(fd, b'x')
        v.kill()
        os.close(fd)
        run(['umount', '-l', v.mnt] if os.geteuid() == 0 else ['fusermount3', '-uz', v.mnt])
        equal(sorted(os.listdir(v.root + '/doc')), before, 'in the checkout')
        equal(os.listdir(v.scratch + '/work'), [], 'in scratch')
        v.mount()


main(a_program_finds_another_way, it_gets_a_name_anywhere, what_must_not_be_named_is_not,
     a_crash_leaves_nothing)
