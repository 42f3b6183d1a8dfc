# SPDX-License-Identifier: MIT
"""Copying up: when it happens, what it takes along, what it leaves alone."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from checks import read_file, run, wait_for
from everyplace import everywhere, planted
from mounted import equal, fails, main, true
from private import as_asked

OLD_NS = 1577934245_123456789
DEEP = ('deep', 'deep/a', 'deep/a/b')


def files_of_layers(p):
    """Paths of all files below the layers that may take copies."""
    tops = [os.path.join(p.v.scratch, 'upper')] + ([p.upper] if p.upper else [])
    return sorted(os.path.join(base, f) for top in tops for base, _, files in os.walk(top)
                  for f in files)


def set_modes(p):
    for number, name in enumerate(('t.txt', 'td/1', 'td/2')):
        os.chmod(f'{p.trunk}/{name}', (0o640, 0o755, 0o604)[number])
    if p.upper:
        os.chmod(f'{p.upper}/both.txt', 0o750)


@planted(set_modes)
def in_place_editors_keep_the_mode(p):
    """They write a new file beside the old one, give it the mode of that, and rename it."""
    edits = (['sed', '-i', 's/t/TT/'], ['perl', '-pi', '-e', 's/n/NN/'], ['ed', '-s'])
    for number, umask in enumerate((0o077, 0o002)):
        for edit in edits:
            for name in ('t.txt', 'both.txt', 'td/1', 'td/2'):
                before, text = os.stat(p(name)), p.read(name)
                run(['sh', '-c', f'umask {umask:o}; exec "$@"', 'sh', *edit, p(name)],
                    stdin=f'a\nadded {number}\n.\nw\nq\n' if edit[0] == 'ed' else None)
                st = os.stat(p(name))
                what = f'{edit[0]} on {name}'
                equal((oct(st.st_mode), st.st_uid, st.st_gid, st.st_nlink),
                      (oct(before.st_mode), before.st_uid, before.st_gid, 1), what)
                true(p.read(name) != text or edit[0] != 'ed', f'{what}: changed')
    equal(p.read('td/1'), b'oNNe\nadded 0\nadded 1\n', 'all edits')
    equal(p.names('td'), ['1', '2', '3', 'sub'], 'no temporary file is left')


def a_file_is_writable_if_its_mode_says_so(p):
    for name in ('t.txt', 'both.txt', 'td/1'):
        for mode in (0o600, 0o755, 0o444, 0o200, 0o000):
            os.chmod(p(name), mode)
            allowed = bool(mode & 0o200) or os.geteuid() == 0
            equal(os.access(p(name), os.W_OK), allowed, f'{name}, {mode:o}: access')
            if allowed:
                p.write(name, 'x', 'a')
            else:
                fails(13, p.write, name, 'x', 'a')
        os.chmod(p(name), 0o644)
        equal(p.read(name)[-3:], b'xxx', f'{name}: text')


def closed_to_writing(p):
    os.chmod(f'{p.trunk}/td/1', 0o444)


@planted(closed_to_writing)
def what_may_not_be_written_is_not_copied(p):
    if os.geteuid() == 0:
        return
    before = files_of_layers(p)
    fails(13, p.write, 'td/1', 'x', 'a')
    fails(13, open, p('td/1'), 'r+')
    fails(13, os.truncate, p('td/1'), 0)
    equal((p.read('td/1'), files_of_layers(p)), (b'one\n', before), 'nothing was done')
    if p.name == 'mapped':
        os.chmod(p('td/1'), 0o644)
        p.write('td/1', 'x', 'a')
        equal(read_file(f'{p.upper}/td/1'), b'one\nx', 'its owner may')


def opening_and_looking_copies_nothing(p):
    before = files_of_layers(p)
    for name in ('t.txt', 'both.txt', 'td/1', 'md/t'):
        for flags in (os.O_RDWR, os.O_RDWR | os.O_APPEND, os.O_WRONLY, os.O_WRONLY | os.O_CREAT):
            fd = os.open(p(name), flags)
            if flags & os.O_RDWR:
                os.pread(fd, 100, 0)
            os.fsync(fd)
            os.close(fd)
        os.listxattr(p(name))
    run(['grep', '-r', 'nothing', p()], ok=(1, ))
    equal(files_of_layers(p), before, 'files of scratch and spec')


def old_times(p):
    for top in filter(None, (p.trunk, p.upper)):
        for base, dirs, files in os.walk(top):
            for name in dirs + files:
                os.utime(os.path.join(base, name), ns=(OLD_NS, OLD_NS), follow_symlinks=False)


@planted(old_times)
def setting_what_is_set_copies_nothing(p):
    before = files_of_layers(p)
    times = [os.stat(p(name)).st_mtime_ns for name in ('t.txt', 'td', 'md', 'md/t', 'empty')]
    run(['chown', '-R', f'{os.getuid()}:{os.getgid()}', p()])
    run(['chmod', '-R', 'u+rw', p()])
    for base, _, files in os.walk(p()):
        for name in files:
            st = os.stat(os.path.join(base, name))
            os.utime(os.path.join(base, name), ns=(st.st_atime_ns, st.st_mtime_ns))
    equal(files_of_layers(p), before, 'files of scratch and spec')
    equal([os.stat(p(name)).st_mtime_ns for name in ('t.txt', 'td', 'md', 'md/t', 'empty')],
          times, 'times')


@planted(old_times)
def metadata_keeps_the_times(p):
    """What changes owner or mode leaves mtime alone, to the nanosecond, though it copies."""
    names = ('t.txt', 'both.txt', 'td', 'td/1', 'md', 'md/t', 'empty')
    for name in names:
        if p.name == 'mapped' and '/' in name:
            continue  # a copy is a new file of the backend's directory: see below
        os.chmod(p(name), 0o711)
        equal(os.stat(p(name)).st_mtime_ns, OLD_NS, name)
    os.utime(p('t.txt'), ns=(OLD_NS + 1, OLD_NS + 2))
    equal(os.stat(p('t.txt')).st_mtime_ns, OLD_NS + 2, 'a time that was set')


@planted(old_times)
def a_directory_keeps_its_time_when_a_file_is_written(p):
    """But a specialization is a new file of the backend's directory, which shows."""
    p.write('td/2', 'x', 'a')
    p.write('md/t', 'x', 'a')

    def times():
        return [os.stat(p(name)).st_mtime_ns for name in ('td', 'md')]

    if p.name == 'mapped':
        wait_for(lambda: times() == [os.stat(f'{p.upper}/{name}').st_mtime_ns
                                     for name in ('td', 'md')], "the spec directories' times")
        true(min(times()) > OLD_NS, 'they are new')
    else:
        equal(times(), [OLD_NS] * 2, 'times')


def make_files(p):
    os.mkdir(f'{p.trunk}/big')
    for i in range(200):
        with open(f'{p.trunk}/big/f{i}', 'w') as f:
            f.write('x' * 10000)


@planted(make_files)
def a_directory_changes_without_its_children(p):
    before = files_of_layers(p)
    os.chmod(p('big'), 0o711)
    os.utime(p('big'))
    os.chown(p('big'), os.getuid(), os.getgid())
    equal(files_of_layers(p), before, 'files of scratch and spec')
    st = os.stat(p('big'))
    equal((st.st_mode & 0o7777, len(os.listdir(p('big')))), (0o711, 200), 'the directory')


def make_deep(p):
    os.makedirs(f'{p.trunk}/deep/a/b')
    for d in reversed(DEEP):
        os.chmod(f'{p.trunk}/{d}', 0o2750)
        os.utime(f'{p.trunk}/{d}', ns=(OLD_NS, OLD_NS))


@planted(make_deep)
def a_new_file_below_directories_of_trunk(p):
    before = [os.stat(p(d)) for d in DEEP]
    p.write('deep/a/b/new', 'text')
    after = [os.stat(p(d)) for d in DEEP]
    for d, a, b in zip(DEEP, before, after):
        equal((oct(b.st_mode), b.st_uid, b.st_gid, b.st_ino),
              (oct(a.st_mode), a.st_uid, a.st_gid, a.st_ino), d)
    equal([st.st_mtime_ns for st in after[:-1]], [OLD_NS] * 2, 'times of the upper ones')
    true(after[-1].st_mtime_ns > OLD_NS, 'time of the one that has it')
    equal(p.names('deep/a/b'), ['new'], 'names')
    if p.name == 'mapped':
        for d in DEEP:
            st = os.stat(f'{p.upper}/{d}')
            equal((oct(st.st_mode), st.st_uid), (oct(before[0].st_mode), before[0].st_uid),
                  f'{d} in the spec directory')


def huge_size(p):
    # the version that a specialization starts from is recorded, for which all of it is read
    return 5 << (20 if p.name == 'mapped' else 30)


def make_huge(p):
    with open(f'{p.trunk}/huge', 'wb') as f:
        f.write(b'begin')
        f.truncate(huge_size(p))
        f.seek(huge_size(p) // 5 * 4 + 5)
        f.write(b'over four')


@planted(make_huge)
def a_huge_file_with_holes_is_copied_as_it_is(p):
    size = huge_size(p)
    before = os.stat(f'{p.trunk}/huge').st_blocks
    with open(p('huge'), 'r+b') as f:
        for at in (size // 5 * 3, size // 10 * 9):
            f.seek(at)
            f.write(b'z')
        f.flush()
        f.truncate(size + 1)
    st = os.stat(p('huge'))
    equal(st.st_size, size + 1, 'size')
    true(st.st_blocks <= before + 64, f'holes stay holes: {before} blocks, then {st.st_blocks}')
    with open(p('huge'), 'rb') as f:
        for at, want in ((0, b'begin\0'), (size // 5 * 3, b'z\0'),
                         (size // 5 * 4 + 4, b'\0over four\0'), (size // 10 * 9, b'z\0'),
                         (size, b'\0')):
            f.seek(at)
            equal(f.read(len(want)), want, f'at {at}')
    os.unlink(p('huge'))


as_asked()
main(*everywhere(in_place_editors_keep_the_mode, a_file_is_writable_if_its_mode_says_so,
                 what_may_not_be_written_is_not_copied, opening_and_looking_copies_nothing,
                 setting_what_is_set_copies_nothing, metadata_keeps_the_times,
                 a_directory_keeps_its_time_when_a_file_is_written,
                 a_directory_changes_without_its_children, a_new_file_below_directories_of_trunk,
                 a_huge_file_with_holes_is_copied_as_it_is))
