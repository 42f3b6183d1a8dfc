# SPDX-License-Identifier: MIT
"""What is cached gives way to edits of the layers, and what the mount itself does shows at once."""
import os
import shutil
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from children import forget, may_forget  # noqa: E402
from daemontree import PLACES, SPEC, TREE, shows, view  # noqa: E402
from mounted import (Skip, View, equal, fails, git, main, need_program, read_file,  # noqa: E402
                     run, true, wait_for, write_file)
from routes import files  # noqa: E402


def each_new_name_is_listed():
    """Not one of many is missed, whatever the pause after the last look."""
    with view() as v:
        for i in range(120):
            at = (f'{v.root}/doc', f'{v.root}/include', f'{v.root}/{SPEC}')[i % 3]
            place = 'doc' if i % 3 == 0 else 'include'
            v.listdir(place)
            name = f'x{i}'
            write_file(f'{at}/{name}', str(i))
            time.sleep((i % 7) * 0.003)
            wait_for(lambda: name in v.listdir(place), f'round {i}: listed')
            equal(v.read(f'{place}/{name}'), str(i).encode(), f'round {i}: content')


def a_tree_copied_into_a_layer_is_whole():
    """Each listed name can be looked at while it is copied in, and git finds its way."""
    need_program('cp')
    with view() as v:
        new = os.path.join(v.tmp, 'new')
        for i in range(300):
            write_file(f'{new}/d{i % 10}/e{i % 3}/f{i}.h', f'text {i}\n')
        copy = subprocess.Popen(['cp', '-r', new + '/.', f'{v.root}/{SPEC}/'])
        while copy.poll() is None:
            for base, dirs, names in os.walk(v.path('include')):
                for name in dirs + names:
                    os.lstat(os.path.join(base, name))  # nothing is removed, so it is there
        equal(copy.returncode, 0, 'cp')
        v.cli('sync', v.mnt)
        for i in range(300):
            equal(v.read(f'include/d{i % 10}/e{i % 3}/f{i}.h'), f'text {i}\n'.encode(), f'{i}')
        said = git(v.mnt, 'status', '--porcelain', '-uall')
        for i in range(300):
            true(f'include/d{i % 10}/e{i % 3}/f{i}.h' in said, f'git names file {i}')


def a_branch_is_checked_out_while_a_file_is_open():
    """An editor that holds the old file can see that there is another, and loses nothing."""

    def branches(root):
        git(root, 'checkout', '-q', '-b', 'other')
        write_file(f'{root}/doc/t.txt', 'text of the other branch\n')
        git(root, 'commit', '-qam', 'other')
        git(root, 'checkout', '-q', 'main')

    with view(dirty=branches) as v:
        with open(v.path('doc/t.txt'), 'r+b') as f:
            old, seen = f.read(), os.fstat(f.fileno())
            v.git('checkout', '-q', 'other')
            wait_for(lambda: os.stat(v.path('doc/t.txt')).st_ino != seen.st_ino, 'another file')
            st = os.stat(v.path('doc/t.txt'))
            equal(st.st_size, 25, 'its size')
            true(st.st_mtime_ns != seen.st_mtime_ns, 'its time')
            f.seek(0)
            equal(f.read(), old, 'the open one is whole')
        equal(v.read('doc/t.txt'), b'text of the other branch\n', 'opened again')
        v.write('doc/t.txt', 'saved\n')
        equal(read_file(f'{v.root}/doc/t.txt'), b'saved\n', 'saved where it belongs')
        equal(v.git('status', '--porcelain', 'doc'), ' M doc/t.txt\n', 'git in the checkout')


def a_log_written_anew_is_no_blend():
    """Truncated and written again, longer or shorter: the new one at last, no zeros meanwhile."""
    with view() as v:
        real, end, faults = f'{v.root}/doc/log', threading.Event(), []
        write_file(real, 'run 0 line\n' * 600)

        def look():
            while not end.is_set():
                try:
                    got = v.read('doc/log')
                except OSError:
                    continue
                if b'\0' in got:
                    faults.append(got[-50:])

        t = threading.Thread(target=look)
        t.start()
        try:
            for i in range(1, 60):
                text = f'run {i} line\n'.encode() * (200, 800, 600)[i % 3]
                with open(real, 'r+b') as f:
                    f.truncate(0)
                    f.write(text)
                shows(lambda: v.read('doc/log') == text, True, f'run {i}')
        finally:
            end.set()
            t.join()
        equal(faults, [], 'reads that end in zeros')
        v.cli('sync', v.mnt)
        equal(v.read('doc/log'), text, 'the last one')


def a_touched_file_keeps_its_size():
    with view() as v:
        for way, (name, real) in files(v).items():
            data = v.read(name)
            os.utime(v.path(name))
            now = os.stat(v.path(name))
            equal(now.st_size, len(data), f'{way}: size after touch')
            true(abs(now.st_mtime - time.time()) < 100, f'{way}: time after touch')
            os.utime(v.path(name), ns=(5, 1609459200123456789))
            for _ in range(2):
                st = os.stat(v.path(name))
                equal((st.st_size, st.st_mtime_ns), (len(data), 1609459200123456789), way)
                forget()
            equal(os.stat(real).st_mtime_ns, 1609459200123456789, f'{way}: in the layer')
            equal(v.read(name), data, f'{way}: content')


def a_time_stands_once_the_file_is_closed():
    """To the nanosecond: seen by the writer, by others, later, and after the kernel forgot it."""
    with view() as v:
        stamps = {}
        for way, (name, real) in files(v).items():
            with open(v.path(name), 'ab') as f:
                f.write(b'more\n')
                f.flush()
                f.write(b'and more\n')
            stamps[way] = name, real, os.stat(v.path(name)).st_mtime_ns
        for pause in (0, 0.3, 1.2):
            time.sleep(pause)
            for way, (name, real, ns) in stamps.items():
                equal(os.stat(v.path(name)).st_mtime_ns, ns, f'{way}: {pause} s later')
                equal(os.stat(real).st_mtime_ns, ns, f'{way}: in the layer')
        forget()
        for way, (name, real, ns) in stamps.items():
            equal(os.stat(v.path(name)).st_mtime_ns, ns, f'{way}: forgotten')
        v.remount()
        for way, (name, real, ns) in stamps.items():
            equal(os.stat(v.path(name)).st_mtime_ns, ns, f'{way}: after a remount')


def a_name_that_was_missing_is_there_at_once():
    """Asked for in vain, then moved there, made, linked: as shells do that complete names."""
    with view() as v:
        os.mkdir(v.path('build'))
        for place in PLACES:
            top = v.path(f'{place}/target')
            os.mkdir(top)
            v.write(f'{place}/source', 'x')
            makers = {
                'moved': lambda p: (os.mkdir(p + '.tmp'), os.rename(p + '.tmp', p)),
                'file': lambda p: write_file(p, 'x'),
                'linked': lambda p: os.link(v.path(f'{place}/source'), p),
                'symlink': lambda p: os.symlink('nowhere', p),
                'fifo': os.mkfifo,
                'renamed': lambda p: os.rename(v.path(f'{place}/source'), p),
            }
            for name, make in makers.items():
                path = os.path.join(top, name)
                fails(2, os.lstat, path)
                make(path)
                os.lstat(path)
                true(name in os.listdir(top), f'{place}: {name} is listed')
            for name in makers:
                path = os.path.join(top, name)
                os.rename(path, path + '2')
                fails(2, os.lstat, path)
                os.lstat(path + '2')


def two_views_of_one_checkout():
    """What one does the other shows; taking one down does not touch the other's programs."""
    need_program('cc')
    source = 'int answer(void) { return 42; }\n'
    with view(more={SPEC + '/answer.h': source, 'third_party/c/spec_cpp/include/c.h': ''}) as a:
        for kw in ({'backend': 'c'}, {'backend': 'b'}):
            with View(root=a.root, opts=['-p', 'flagtree'], **kw) as b:
                for i in range(10):
                    write_file(a.path('doc/both.txt'), f'by a {i}\n')
                    shows(lambda: b.read('doc/both.txt'), f'by a {i}\n'.encode(), 'the other')
                    write_file(b.path('doc/both.txt'), f'by b {i}\n')
                    shows(lambda: a.read('doc/both.txt'), f'by b {i}\n'.encode(), 'and back')
                os.rename(a.path('doc/both.txt'), a.path('doc/moved.txt'))
                wait_for(lambda: not b.exists('doc/both.txt'), 'renamed')
                os.unlink(b.path('doc/moved.txt'))
                wait_for(lambda: not a.exists('doc/moved.txt'), 'removed')
        with View(root=a.root, backend='b', opts=['-p', 'flagtree']) as b:
            for v in (a, b):
                os.makedirs(v.path('build'), exist_ok=True)
                run(['cc', '-shared', '-fPIC', '-o', v.path('build/lib.so'), '-x', 'c',
                     v.path('include/answer.h')])
            code = ('import ctypes, sys; l = ctypes.CDLL(sys.argv[1]); print(l.answer(), flush=1);'
                    'sys.stdin.read(); print(l.answer())')
            p = subprocess.Popen([sys.executable, '-c', code, b.path('build/lib.so')], text=True,
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            equal(p.stdout.readline(), '42\n', 'the library of the second')
            a.umount()
            os.makedirs(f'{a.root}/{SPEC}/dir')
            wait_for(lambda: b.exists('include/dir'), 'the second shows an edit')
            os.rmdir(f'{a.root}/{SPEC}/dir')
            equal(p.communicate('', timeout=60)[0], '42\n', 'it runs on')
            a.mount()


def a_view_of_a_view_is_refused():
    with view() as v:
        with View(TREE, 'b', opts=['-p', 'flagtree'], mount=False) as w:
            p = run([w.bin, 'mount', '-s', w.scratch, v.mnt, w.mnt], env=w.env, ok=(2, ))
            equal((p.stderr.count('\n'), 'view' in p.stderr), (1, True), p.stderr)


def what_a_layer_loses_and_gets_back():
    """The spec directory and the trunk's own directories go away and come back."""
    with view() as v:
        before = sorted(v.listdir('include'))
        for rel in (SPEC, 'third_party', 'include'):
            shutil.move(f'{v.root}/{rel}', f'{v.root}/away')
            v.cli('sync', v.mnt)
            for base, dirs, names in os.walk(v.mnt):
                for name in dirs + names:
                    os.lstat(os.path.join(base, name))
            true(v.exists('doc/t.txt'), 'the rest is there')
            shutil.move(f'{v.root}/away', f'{v.root}/{rel}')
            v.cli('sync', v.mnt)
            equal(sorted(v.listdir('include')), before, f'{rel} is back')
            equal(v.read('include/both.h'), b'spec both\n', 'the backend is back')


def what_the_kernel_forgot_is_found_again():
    if not may_forget():
        raise Skip('it is not ours to let the kernel forget')
    with view() as v:
        for way, (name, real) in files(v).items():
            for i in range(5):
                v.write(name, f'{i}\n')
                forget()
                equal((v.read(name), read_file(real)), (b'%d\n' % i, b'%d\n' % i), way)


main(each_new_name_is_listed, a_tree_copied_into_a_layer_is_whole,
     a_branch_is_checked_out_while_a_file_is_open, a_log_written_anew_is_no_blend,
     a_touched_file_keeps_its_size, a_time_stands_once_the_file_is_closed,
     a_name_that_was_missing_is_there_at_once, two_views_of_one_checkout,
     a_view_of_a_view_is_refused, what_a_layer_loses_and_gets_back,
     what_the_kernel_forgot_is_found_again)
