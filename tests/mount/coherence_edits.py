# SPDX-License-Identifier: MIT
"""Every kind of change of a layer is seen in the mount after `specfs sync`, and soon without it."""
import mmap
import os
import shutil
import time

from mounted import View, binary, equal, main, read_file, run, true, wait_for, write_file

MAPPED = 'python/triton/language'
SPEC = 'third_party/mthreads/spec/triton/language'
TREE = {
    f'{MAPPED}/__init__.py': '',
    f'{MAPPED}/core.py': 'trunk core\n',
    f'{MAPPED}/math.py': 'trunk math\n',
    f'{MAPPED}/more.py': 'trunk more\n',
    f'{SPEC}/math.py': 'spec math\n',
    'docs/a.txt': 'a\n',
    'docs/deep/er/b.txt': 'b\n',
}


def view():
    return View(TREE, 'mthreads')


def look_at_all(v):
    """Let the kernel cache whatever there is."""
    for top, _dirs, files in os.walk(v.mnt):
        for f in files:
            read_file(os.path.join(top, f))


def names_come_and_go():
    with view() as v:
        look_at_all(v)
        for rel in ('docs/new.txt', 'docs/deep/new.txt', f'{MAPPED}/new.py', f'{SPEC}/own.py'):
            true(not v.exists(rel), f'{rel} is not there yet')
            write_file(os.path.join(v.root, rel), b'x')
            v.cli('sync', v.mnt)
            equal(v.read(rel), b'x', rel)
            true(os.path.basename(rel) in v.listdir(os.path.dirname(rel)), f'{rel} is listed')
            os.unlink(os.path.join(v.root, rel))
            v.cli('sync', v.mnt)
            true(not v.exists(rel), f'{rel} has gone')
            true(os.path.basename(rel) not in v.listdir(os.path.dirname(rel)), 'nor is it listed')


def a_missing_header_is_found_once_it_is_made():
    with view() as v:
        true(not v.exists('docs/h.h'), 'remembered as missing')
        write_file(os.path.join(v.root, 'docs/h.h'), b'1')
        wait_for(lambda: v.exists('docs/h.h'), 'the header appears without a sync')


def content_changes():
    with view() as v:
        for rel, at in (('docs/a.txt', 'docs/a.txt'), (f'{MAPPED}/math.py', f'{SPEC}/math.py')):
            real = os.path.join(v.root, at)
            look_at_all(v)
            st = os.stat(real)
            for text in (b'same size\n', b'same-size\n', b'longer than that\n', b'', b'end\n'):
                with open(real, 'r+b') as f:
                    f.write(text)
                    f.truncate()
                os.utime(real, ns=(st.st_atime_ns, st.st_mtime_ns))
                v.cli('sync', v.mnt)
                equal(v.read(rel), text, f'{rel} with its old mtime')
                equal(os.stat(v.path(rel)).st_size, len(text), 'size')


def attributes_change():
    with view() as v:
        look_at_all(v)
        for rel in ('docs/a.txt', 'docs/deep', 'docs'):
            os.stat(v.path(rel))
            os.chmod(os.path.join(v.root, rel), 0o750)
            os.utime(os.path.join(v.root, rel), (1, 2))
            v.cli('sync', v.mnt)
            st = os.stat(v.path(rel))
            equal((st.st_mode & 0o777, st.st_mtime), (0o750, 2.0), rel)


def directories_that_were_only_looked_at():
    """Never listed, nor anything in them looked up."""
    for rel in ('docs/deep', 'python/triton', 'docs'):
        with view() as v:
            os.stat(v.path(rel))
            os.stat(v.path(rel))
            os.chmod(os.path.join(v.root, rel), 0o750)
            v.cli('sync', v.mnt)
            equal(os.stat(v.path(rel)).st_mode & 0o777, 0o750, rel)


def specialization_comes_and_goes():
    with view() as v:
        look_at_all(v)
        equal(v.read(f'{MAPPED}/core.py'), b'trunk core\n', 'trunk')
        write_file(os.path.join(v.root, SPEC, 'core.py'), b'spec core\n')
        v.cli('sync', v.mnt)
        equal(v.read(f'{MAPPED}/core.py'), b'spec core\n', 'the specialization')
        os.rename(os.path.join(v.root, SPEC, 'core.py'), os.path.join(v.root, SPEC, 'core2.py'))
        v.cli('sync', v.mnt)
        equal(v.read(f'{MAPPED}/core.py'), b'trunk core\n', 'trunk again')
        equal(v.read(f'{MAPPED}/core2.py'), b'spec core\n', 'its new name')


def hide_list_is_edited():
    with view() as v:
        look_at_all(v)
        hide = os.path.join(v.root, 'third_party/mthreads/spec/triton/.specfs-hide')
        write_file(hide, b'/language/core.py\n')
        v.cli('sync', v.mnt)
        true(not v.exists(f'{MAPPED}/core.py'), 'hidden')
        true('core.py' not in v.listdir(MAPPED), 'not listed')
        equal(v.read(f'{MAPPED}/math.py'), b'spec math\n', 'the spec\'s own file stays')
        os.unlink(hide)
        v.cli('sync', v.mnt)
        equal(v.read(f'{MAPPED}/core.py'), b'trunk core\n', 'shown again')


def directories_move_away_and_back():
    with view() as v:
        look_at_all(v)
        for rel in ('docs/deep', 'docs', 'third_party/mthreads'):
            os.rename(os.path.join(v.root, rel), os.path.join(v.root, 'away'))
            v.cli('sync', v.mnt)
            true(not v.exists(rel), f'{rel} is away')
            equal(v.read(f'{MAPPED}/math.py'),
                  b'trunk math\n' if 'third' in rel else b'spec math\n', 'what the view shows')
            os.rename(os.path.join(v.root, 'away'), os.path.join(v.root, rel))
            v.cli('sync', v.mnt)
            true(v.exists(rel), f'{rel} is back')
        equal(v.read('docs/deep/er/b.txt'), b'b\n', 'what was in it')
        equal(v.read(f'{MAPPED}/math.py'), b'spec math\n', 'the specialization')


def a_directory_is_replaced():
    with view() as v:
        look_at_all(v)
        shutil.rmtree(os.path.join(v.root, 'docs'))
        write_file(os.path.join(v.root, 'docs/deep/er/b.txt'), b'new b\n')
        v.cli('sync', v.mnt)
        equal(sorted(v.listdir('docs')), ['deep'], 'names')
        equal(v.read('docs/deep/er/b.txt'), b'new b\n', 'content')
        write_file(os.path.join(v.root, 'docs/deep/er/c.txt'), b'c\n')
        v.cli('sync', v.mnt)
        equal(v.read('docs/deep/er/c.txt'), b'c\n', 'the new directory is watched')


def a_spec_directory_appears():
    with View(TREE, 'mthreads') as v:
        look_at_all(v)
        true(not v.exists('include/x.h'), 'no map of C++ yet')
        write_file(os.path.join(v.root, 'third_party/mthreads/spec_cpp/include/x.h'), b'h')
        v.cli('sync', v.mnt)
        equal(v.read('include/x.h'), b'h', 'the new spec directory is shown')


def a_symlink_is_swapped():
    with view() as v:
        link = os.path.join(v.root, 'docs/link')
        os.symlink('a.txt', link)
        wait_for(lambda: v.exists('docs/link'), 'the link')
        equal(v.read('docs/link'), b'a\n', 'through the link')
        os.symlink('deep/er/b.txt', link + '.new')
        os.rename(link + '.new', link)
        v.cli('sync', v.mnt)
        equal(v.read('docs/link'), b'b\n', 'through the new link')


def open_files_follow_their_file():
    with view() as v:
        kept = open(v.path('docs/a.txt'), 'rb', buffering=0)
        equal(kept.read(), b'a\n', 'before')
        with open(os.path.join(v.root, 'docs/a.txt'), 'r+b') as f:
            f.write(b'edited\n')
        v.cli('sync', v.mnt)
        equal(os.pread(kept.fileno(), 100, 0), b'edited\n', 'after an edit in place')
        write_file(os.path.join(v.root, 'docs/tmp'), b'replaced\n')
        os.rename(os.path.join(v.root, 'docs/tmp'), os.path.join(v.root, 'docs/a.txt'))
        v.cli('sync', v.mnt)
        equal(v.read('docs/a.txt'), b'replaced\n', 'by name')
        equal(os.pread(kept.fileno(), 100, 0), b'edited\n', 'the open file is the old one')
        kept.close()


def open_files_that_were_not_read_yet_are_kept():
    """The file is still there, but no name of the view leads to it any more."""
    with view() as v:
        shadowed = open(v.path(f'{MAPPED}/core.py'), 'rb', buffering=0)
        hidden = open(v.path(f'{MAPPED}/more.py'), 'rb', buffering=0)
        write_file(os.path.join(v.root, SPEC, 'core.py'), b'spec core\n')
        write_file(os.path.join(v.root, 'third_party/mthreads/spec/triton/.specfs-hide'),
                   b'/language/more.py\n')
        v.cli('sync', v.mnt)
        equal(v.read(f'{MAPPED}/core.py'), b'spec core\n', 'by name')
        equal(shadowed.read(), b'trunk core\n', 'the one that is shadowed')
        true(not v.exists(f'{MAPPED}/more.py'), 'hidden')
        equal(hidden.read(), b'trunk more\n', 'the one that is hidden')
        shadowed.close()
        hidden.close()


def hard_links_and_shared_maps_are_found_by_sync():
    with view() as v:
        os.link(os.path.join(v.root, 'docs/a.txt'), os.path.join(v.root, 'outside'))
        look_at_all(v)
        with open(os.path.join(v.root, 'docs/deep/er/b.txt'), 'r+b') as f:
            with mmap.mmap(f.fileno(), 2) as m:
                m[0:1] = b'B'
                m.flush()
        v.cli('sync', v.mnt)
        equal(v.read('docs/deep/er/b.txt'), b'B\n', 'written through a map')


def strict_and_ttl_see_it_too():
    for mode in ('strict', 'ttl=1'):
        with View(TREE, 'mthreads', opts=['-o', f'cache={mode}']) as v:
            look_at_all(v)
            write_file(os.path.join(v.root, 'docs/a.txt'), b'other\n')
            write_file(os.path.join(v.root, 'docs/n.txt'), b'n\n')
            v.cli('sync', v.mnt)
            equal(v.read('docs/a.txt'), b'other\n', mode)
            true('n.txt' in v.listdir('docs'), f'{mode}: listing')


def change_all(v, n):
    """One change of each kind; what a look must show then."""
    write_file(os.path.join(v.root, 'docs/a.txt'), b'turn %d\n' % n)
    write_file(os.path.join(v.root, f'docs/n{n}'), b'n')
    write_file(os.path.join(v.root, 'docs/tmp'), b'new %d\n' % n)
    os.rename(os.path.join(v.root, 'docs/tmp'), os.path.join(v.root, 'docs/deep/er/b.txt'))
    os.chmod(os.path.join(v.root, 'docs/deep'), 0o700 + n)
    if n:
        os.unlink(os.path.join(v.root, f'docs/n{n - 1}'))


def stale(v, n, kept):
    """What is shown as it was before change number n."""
    looks = {
        'content': lambda: v.read('docs/a.txt') == b'turn %d\n' % n,
        'an open file': lambda: os.pread(kept.fileno(), 99, 0) == b'turn %d\n' % n,
        'a new name': lambda: v.exists(f'docs/n{n}'),
        'a removed name': lambda: not v.exists(f'docs/n{n - 1}'),
        'a listing': lambda: v.listdir('docs') == ['a.txt', 'deep', f'n{n}'],
        'a replaced file': lambda: v.read('docs/deep/er/b.txt') == b'new %d\n' % n,
        'a mode': lambda: os.stat(v.path('docs/deep')).st_mode & 0o777 == 0o700 + n,
    }
    return [what for what, look in looks.items() if not look()]


def strict_is_never_stale():
    with View(TREE, 'mthreads', opts=['-o', 'cache=strict']) as v:
        with open(v.path('docs/a.txt'), 'rb') as kept:
            for n in range(7):
                change_all(v, n)
                equal(stale(v, n, kept), [], f'turn {n}: at once')


def ttl_is_not_stale_for_longer():
    with View(TREE, 'mthreads', opts=['-o', 'cache=ttl=1']) as v:
        with open(v.path('docs/a.txt'), 'rb') as kept:
            for n in range(3):
                stale(v, n, kept)
                change_all(v, n)
                time.sleep(1.1)
                os.fstat(kept.fileno())  # reading alone asks only beyond the end that is known
                equal(stale(v, n, kept), [], f'turn {n}: after the time')


def written_with_its_size_and_its_old_time():
    """As by a program that keeps times. Of what the kernel compares, nothing differs."""
    for mode, wait_sec in (('strict', 0), ('ttl=1', 1.1)):
        for size in (100, 300_000):
            with View(TREE, 'mthreads', opts=['-o', f'cache={mode}']) as v:
                real = os.path.join(v.root, 'docs/a.txt')
                write_file(real, b'a' * size)
                time.sleep(wait_sec)
                with open(v.path('docs/a.txt'), 'rb') as kept:
                    for c in b'bcd':
                        equal(len(os.pread(kept.fileno(), size, 0)), size, 'before')
                        st = os.stat(real)
                        with open(real, 'r+b') as f:
                            f.write(bytes([c]) * size)
                        os.utime(real, ns=(st.st_atime_ns, st.st_mtime_ns))
                        time.sleep(wait_sec)
                        os.fstat(kept.fileno())
                        equal(set(os.pread(kept.fileno(), size, 0)), {c}, f'{mode}: an open file')
                        equal(set(v.read('docs/a.txt')), {c}, f'{mode}: by name')


def sync_needs_a_view():
    out = run([binary(), 'sync', '/'], ok=(2, ))
    true('no mounted view' in out.stderr, out.stderr)


main(names_come_and_go, a_missing_header_is_found_once_it_is_made, content_changes,
     attributes_change, directories_that_were_only_looked_at, specialization_comes_and_goes,
     hide_list_is_edited, directories_move_away_and_back, a_directory_is_replaced,
     a_spec_directory_appears, a_symlink_is_swapped, open_files_follow_their_file,
     open_files_that_were_not_read_yet_are_kept,
     hard_links_and_shared_maps_are_found_by_sync, strict_and_ttl_see_it_too, strict_is_never_stale,
     ttl_is_not_stale_for_longer, written_with_its_size_and_its_old_time, sync_needs_a_view)
