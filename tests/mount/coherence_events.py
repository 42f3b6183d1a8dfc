# SPDX-License-Identifier: MIT
"""With `-o events`, who watches inside the mount hears of changes made underneath; nothing is
changed by that, nobody else sees anything of it, and it is in no unmount's way."""
import os
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from held import Child  # noqa: E402
from mounted import (View, equal, is_mounted, main, need_program, read_file, run, true, wait_for,
                     write_file)  # noqa: E402

TREE = {'src/a.c': 'a\n', 'src/sub/b.c': 'b\n', 'log': 'first\n', 'other/x': 'x\n'}


def view(**kw):
    return View(TREE, opts=['-o', 'events'], **kw)


def told(v):
    return v.status()['events']


class Watcher:
    """inotifywait in a directory of the mount; lines "EVENTS NAME" as they come."""

    def __init__(self, v, rel, *words):
        need_program('inotifywait')
        self.p = subprocess.Popen(['inotifywait', '-m', *words, '--format', '%e %f', v.path(rel)],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while 'Watches established' not in self.p.stderr.readline():
            true(self.p.poll() is None, 'inotifywait runs')
        self.lines = []
        self.reader = threading.Thread(target=self.read)
        self.reader.start()
        wait_for(lambda: told(v)['watched'] > 0, 'the watcher is known')
        self.clear()

    def read(self):
        for line in self.p.stdout:
            self.lines.append(line.strip())

    def clear(self):
        del self.lines[:]

    def hears(self, event, name):
        """Is there a line with that event and name?"""
        wait_for(lambda: any(event in (e := line.split(' ', 1))[0].split(',') and e[1:] == [name]
                             for line in list(self.lines)), f'{event} {name} in {self.lines}')

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        self.p.kill()
        self.p.wait()
        self.reader.join()
        self.p.stdout.close()
        self.p.stderr.close()
        return False


def every_change_is_heard():
    with view() as v:
        below = os.path.join(v.root, 'src')
        os.listdir(v.path('src'))
        with Watcher(v, 'src') as w:
            write_file(f'{below}/new.c', 'new\n')
            w.hears('CREATE', 'new.c')
            w.hears('CLOSE_WRITE', 'new.c')
            equal(v.read('src/new.c'), b'new\n', 'the new file')
            w.clear()
            with open(f'{below}/a.c', 'r+b') as f:
                f.write(b'A')
            w.hears('MODIFY', 'a.c')
            w.hears('CLOSE_WRITE', 'a.c')
            w.clear()
            os.chmod(f'{below}/a.c', 0o600)
            w.hears('ATTRIB', 'a.c')
            os.rename(f'{below}/new.c', f'{below}/moved.c')
            w.hears('DELETE', 'new.c')
            w.hears('CREATE', 'moved.c')
            os.unlink(f'{below}/moved.c')
            w.hears('DELETE', 'moved.c')
            os.mkdir(f'{below}/dir')
            w.hears('ISDIR', 'dir')
            os.rmdir(f'{below}/dir')
            w.hears('DELETE', 'dir')
            os.symlink('a.c', f'{below}/link')
            w.hears('CREATE', 'link')
        equal(told(v)['dropped'], 0, f'dropped: {told(v)}')
        equal(v.git('status', '--porcelain', '--untracked-files=no').split(), ['M', 'src/a.c'],
              'what has changed in the checkout')
        equal(sorted(os.listdir(below)), ['a.c', 'link', 'sub'], 'names underneath')
        equal(v.listdir('src'), ['a.c', 'link', 'sub'], 'names in the view')
        equal(oct(os.stat(f'{below}/a.c').st_mode & 0o777), '0o600', 'mode')
        equal(read_file(f'{below}/a.c'), b'A\n', 'content')


def what_is_heard_is_there():
    """Who reads when it hears of a change reads the new content."""
    with view() as v:
        path = v.path('log')
        read_file(path)
        with Watcher(v, '', '-e', 'modify') as w:
            for i in range(50):
                text = b'turn %02d' % i
                w.clear()
                with open(os.path.join(v.root, 'log'), 'r+b') as f:
                    f.write(text)
                wait_for(lambda: 'MODIFY log' in w.lines, f'turn {i}')
                equal(read_file(path)[:len(text)], text, 'read when it was heard of')


def editors_save_by_renaming():
    with view() as v:
        below = os.path.join(v.root, 'src')
        v.read('src/a.c')
        with Watcher(v, 'src') as w:
            for i in range(5):
                w.clear()
                write_file(f'{below}/a.c.tmp', f'saved {i}\n')
                os.rename(f'{below}/a.c.tmp', f'{below}/a.c')
                w.hears('CREATE', 'a.c')
                w.hears('CLOSE_WRITE', 'a.c')
                equal(v.read('src/a.c'), b'saved %d\n' % i, 'content')
        equal(v.listdir('src'), ['a.c', 'sub'], 'names')


def look_around(v, end):
    while time.monotonic() < end:
        v.listdir('src')
        try:
            os.stat(v.path('src/a.c'))
        except FileNotFoundError:
            pass # for those who are told, it goes before it comes
        time.sleep(0.0005)


def what_came_is_written_to_whoever_looks_meanwhile():
    """The kernel may forget a name that came and ask again before it is told of the content."""
    with view() as v:
        below = os.path.join(v.root, 'src')
        v.read('src/a.c')
        end = time.monotonic() + 5
        other = threading.Thread(target=look_around, args=(v, end))
        with Watcher(v, 'src') as w:
            other.start()
            try:
                while time.monotonic() < end:
                    w.clear()
                    write_file(f'{below}/a.c.tmp', 'saved\n')
                    os.rename(f'{below}/a.c.tmp', f'{below}/a.c')
                    w.hears('CLOSE_WRITE', 'a.c')
            finally:
                other.join()


def tail_follows():
    """It asks now and then, as on all file systems of programs, and must not be misled."""
    need_program('tail')
    with view() as v:
        p = subprocess.Popen(['tail', '-F', '-s', '0.1', '-n', '+1', v.path('log')],
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        seen = []
        reader = threading.Thread(target=lambda: seen.extend(iter(p.stdout.readline, b'')))
        reader.start()
        try:
            wait_for(lambda: b'first\n' in seen, 'it has begun')
            for i in range(5):
                with open(os.path.join(v.root, 'log'), 'a') as f:
                    f.write(f'line {i}\n')
                wait_for(lambda: b'line %d\n' % i in seen, f'line {i}')
            write_file(os.path.join(v.root, 'log.new'), 'rotated\n')
            os.rename(os.path.join(v.root, 'log.new'), os.path.join(v.root, 'log'))
            wait_for(lambda: b'rotated\n' in seen, 'the new file')
        finally:
            p.kill()
            p.wait()
            reader.join()
            p.stdout.close()


def where_nobody_watches_nothing_is_done():
    with view() as v:
        os.listdir(v.path('other'))
        v.read('other/x')
        with Watcher(v, 'src'):
            before = told(v)['told']
            write_file(os.path.join(v.root, 'other/x'), 'y')
            write_file(os.path.join(v.root, 'other/new'), 'y')
            v.cli('sync', v.mnt)
            equal(told(v)['told'], before, 'changes repeated')
    with View(TREE) as v:
        equal(told(v), None, 'without the option')


def own_changes_are_heard_once():
    with view() as v:
        os.listdir(v.path('src'))
        with Watcher(v, 'src', '-e', 'create', '-e', 'delete') as w:
            for i in range(20):
                v.write(f'src/own{i}', 'x')
            for i in range(20):
                os.unlink(v.path(f'src/own{i}'))
            v.cli('sync', v.mnt)
            wait_for(lambda: len(w.lines) >= 40, 'all of them')
            equal(sorted(set(w.lines)), sorted(w.lines), 'each one once')
        equal(told(v)['told'], 0, 'changes repeated')


def it_is_not_in_the_way_of_the_end():
    """Unmounting, SIGTERM and SIGKILL while many changes are repeated."""
    for end in ('umount', 'term', 'kill'):
        with view() as v:
            os.listdir(v.path('src'))
            stop = threading.Event()

            def edit():
                i = 0
                while not stop.is_set():
                    i += 1
                    write_file(os.path.join(v.root, f'src/n{i % 50}'), f'{i}')
                    if i % 3 == 0:
                        os.unlink(os.path.join(v.root, f'src/n{i % 50}'))

            editor = threading.Thread(target=edit)
            with Watcher(v, 'src'):
                editor.start()
                try:
                    wait_for(lambda: told(v)['told'] > 50, 'changes are repeated')
                    finish(v, end)
                finally:
                    stop.set()
                    editor.join()


def finish(v, end):
    if end == 'umount':
        # it may be in use just now, as by anybody: not for long
        wait_for(lambda: run([v.bin, 'umount', v.mnt], env=v.env, ok=(0, 2)).returncode == 0,
                 'unmounting')
    elif end == 'term':
        v.daemon.send_signal(signal.SIGTERM)
    else:
        v.daemon.kill()
        child = Child('umount', lambda: v.cli('umount', v.mnt))
        equal(child.wait(30), 0, 'unmounting after SIGKILL')
    wait_for(lambda: v.daemon.poll() is not None, f'{end}: the daemon ends')
    true(end == 'kill' or v.daemon.returncode == 0, f'{end}: {v.daemon.returncode}')
    true(not is_mounted(v.mnt), f'{end}: nothing is mounted')
    v.daemon = None


def it_needs_to_watch_and_to_write():
    for words, says in ((['-r', '-o', 'events'], 'read-only'),
                        (['-o', 'events,cache=strict'], 'cache=auto')):
        with View(TREE, mount=False) as v:
            out = run([v.bin, 'mount', '-s', v.scratch, *words, v.root, v.mnt], env=v.env, ok=(2, ))
            true(says in out.stderr, out.stderr)


main(every_change_is_heard, what_is_heard_is_there, editors_save_by_renaming,
     what_came_is_written_to_whoever_looks_meanwhile, tail_follows,
     where_nobody_watches_nothing_is_done, own_changes_are_heard_once,
     it_is_not_in_the_way_of_the_end, it_needs_to_watch_and_to_write)
