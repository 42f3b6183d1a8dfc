# SPDX-License-Identifier: MIT
"""Everything at once: builds and readers in the mount, edits of all layers underneath, a kernel
that forgets, little memory, `specfs sync`, and mounts that end in every way, SIGKILL in the midst
of it included.  Nobody may hang, nothing half written may show, and after each round the view
equals what a fresh mount of the same layers shows.

SPECFS_STRESS_SEC makes it longer (ten minutes: 600), SPECFS_STRESS_SEED repeats the choices.  It
needs SPECFS_BIN and this directory, nothing else.  Who hangs is reported with its kernel stacks.
"""
import errno
import itertools
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from children import forget, may_forget  # noqa: E402
from daemontree import SPEC, view  # noqa: E402
from held import Child, stacks  # noqa: E402
from mounted import (SANITIZER_MARKS, equal, is_mounted, main, read_file, snapshot, true,
                     wait_for, write_file)  # noqa: E402

SECONDS = float(os.environ.get('SPECFS_STRESS_SEC', '15'))
SEED = int(os.environ.get('SPECFS_STRESS_SEED', '0')) or random.randrange(1, 1 << 30)
ROUND_SEC = max(3.0, min(15.0, SECONDS / 4))
HANG_SEC = 120.0  # many times what anything here takes
WORKERS = max(2, min(8, os.cpu_count() or 2))
UNITS = 8
DIRS = ('doc', 'doc/sub', 'lib', SPEC, SPEC + '/deep')
PLAIN, EVENTS = ['-p', 'flagtree'], 'events'
MANY, BUILDS = 16, itertools.count()
ENDS = ('kill', 'umount', 'term', 'lazy')


def unit(i, n):
    return f'''#include "both.h"
#if __has_include("gen{i}.h")
#include "gen{i}.h"
#endif
int unit{i}(void) {{ return {n}; }}
'''


def whole(n):
    """A content that tells whether it is all there."""
    body = (b'%d\n' % n) * (n % 3000 + 1)
    return b'%08x\n' % zlib.crc32(body) + body


def is_whole(data):
    return data[:8] == b'%08x' % zlib.crc32(data[9:])


def prepare(root):
    for i in range(UNITS):
        write_file(f'{root}/lib/u{i}.c', unit(i, 0))
        write_file(f'{root}/doc/whole{i}', whole(i))
        write_file(f'{root}/doc/log{i}', 'begin\n')
    for name in ('include/both.h', f'{SPEC}/both.h'):
        write_file(f'{root}/{name}', '/* both */\n')
    lines = ['rule cc', '  command = cc -I../include -c $in -o $out',
             'rule all', '  command = cat $in > $out']
    for i in range(UNITS):
        lines.append(f'build u{i}.o: cc ../lib/u{i}.c')
    lines.append('build all: all ' + ' '.join(f'u{i}.o' for i in range(UNITS)))
    write_file(f'{root}/lib/build.ninja', '\n'.join(lines + ['']))


class Actor:
    """What one process does until the round ends; it stops at the first fault.

    Where the mount is to end in the `midst` of it, programs that fail are no fault.
    """
    midst = False

    def __init__(self, v, seed, until):
        self.v, self.r, self.until = v, random.Random(seed), until

    def run(self):
        while time.monotonic() < self.until:
            try:
                self.step()
            except FileNotFoundError:
                pass
            except OSError as e:
                if not self.is_race(e):
                    raise

    def is_race(self, e):
        return isinstance(e, (FileExistsError, NotADirectoryError, IsADirectoryError)) or \
            e.errno in (errno.ENOTEMPTY, errno.ELOOP, errno.ESTALE, errno.EINVAL)


class Reader(Actor):
    """Walks, reads and checks what can be checked while others write."""

    def step(self):
        i, v = self.r.randrange(UNITS), self.v
        data = read_file(v.path(f'doc/whole{i}'))
        true(is_whole(data), f'doc/whole{i} is neither the old nor the new one: {data[:60]!r}')
        log = read_file(v.path(f'doc/log{i}'))
        true(log.startswith(b'begin\n') and b'\0' not in log, f'doc/log{i}: {log[-60:]!r}')
        d = v.path(self.r.choice(DIRS + ('include', 'include/deep')))
        for name in os.listdir(d):
            os.lstat(os.path.join(d, name))
        os.path.exists(v.path(f'include/gen{i}.h'))
        os.path.exists(v.path(f'doc/no{self.r.randrange(99)}'))


class Builder(Actor):
    """Builds in the mount, each in a directory of its own, with ninja and cc if they are there."""

    def __init__(self, v, seed, until):
        super().__init__(v, seed, until)
        self.at = v.path(f'build{next(BUILDS) % MANY}')
        self.tools = shutil.which('ninja') and shutil.which('cc')

    def step(self):
        os.makedirs(self.at, exist_ok=True)
        if self.tools:
            shutil.copy(self.v.path('lib/build.ninja'), self.at)
            p = subprocess.run(['ninja', '-j2', '-C', self.at], stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, check=False)
            # an edit takes a source away for a moment, or just when it was opened
            known = (b'o such file', b'missing', b'Stale file handle')
            true(p.returncode == 0 or self.midst or any(k in p.stdout for k in known),
                 f'ninja: {p.stdout.decode(errors="replace")}')
        for k in range(20):
            path = os.path.join(self.at, f'o{k}')
            write_file(path, whole(k + 50))
            equal(read_file(path), whole(k + 50), f'{path}, just written')
            os.replace(path, path + '.done')
            equal(os.stat(path + '.done').st_size, len(whole(k + 50)), f'{path}.done')
        if self.r.random() < 0.3:
            shutil.rmtree(self.at)


class Editor(Actor):
    """Changes the layers underneath in every way there is."""

    def step(self):
        root, r, i = self.v.root, self.r, self.r.randrange(UNITS)
        d = os.path.join(root, r.choice(DIRS))
        path = os.path.join(d, f'e{r.randrange(20)}')
        self.r.choice((
            lambda: self.replace(f'{root}/doc/whole{i}', whole(r.randrange(100000))),
            lambda: self.append(f'{root}/doc/log{i}', b'line %d\n' % r.randrange(1000)),
            lambda: self.replace(f'{root}/lib/u{i}.c', unit(i, r.randrange(9)).encode()),
            lambda: self.flip(f'{root}/{SPEC}/gen{i}.h'),
            lambda: self.flip(f'{root}/include/gen{i}.h'),
            lambda: write_file(path, whole(r.randrange(3000))),
            lambda: os.unlink(path),
            lambda: os.rename(path, os.path.join(d, f'e{r.randrange(20)}')),
            lambda: os.chmod(path, r.choice((0o644, 0o600, 0o755))),
            lambda: os.truncate(path, r.randrange(5000)),
            lambda: os.makedirs(path + 'd/sub', exist_ok=True),
            lambda: write_file(path + 'd/sub/f', b'deep'),
            lambda: os.rename(path + 'd', os.path.join(root, f'lib/e{r.randrange(20)}d')),
            lambda: shutil.rmtree(path + 'd'),
            lambda: self.swap(path + 'l', r.choice(('t.txt', 'log1', 'sub'))),
            lambda: self.replace(f'{root}/{SPEC}/.specfs-hide', r.choice((b'', b'/t.h\n'))),
            lambda: self.away(f'{root}/third_party/b', root + '/third_party/away'),
            lambda: self.away(f'{root}/doc/sub', root + '/lib/away'),
        ))()
        time.sleep(r.random() * 0.01)

    def replace(self, path, data):
        temp = f'{path}.{os.getpid()}'
        with open(temp, 'wb') as f:
            f.write(data)
        os.replace(temp, path)

    def append(self, path, data):
        with open(path, 'ab', buffering=0) as f:
            f.write(data)

    def flip(self, path):
        if os.path.exists(path):
            os.unlink(path)
        else:
            write_file(path, '/* generated */\n')

    def swap(self, path, text):
        os.symlink(text, f'{path}.{os.getpid()}')
        os.replace(f'{path}.{os.getpid()}', path)

    def away(self, path, other):
        if self.r.random() < 0.1:
            os.rename(path, other)
            time.sleep(self.r.random() * 0.02)
            os.rename(other, path)


class Syncer(Actor):
    def step(self):
        p = subprocess.run([self.v.bin, 'sync', self.v.mnt], env=self.v.env, check=False,
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        true(p.returncode == 0 or self.midst, f'sync: {p.stderr.decode()}')
        time.sleep(0.2)


class Watching(Actor):
    """Watches in the mount, as an editor does."""

    def step(self):
        subprocess.run(['timeout', '1', 'inotifywait', '-q', '-m', '-r', self.v.path('doc')],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


class Forgetter(Actor):
    def step(self):
        forget(wait=False)
        time.sleep(1)


class Cramped(Reader):
    """A reader with little memory: pages and names go all the time."""

    def __init__(self, v, seed, until, group):
        super().__init__(v, seed, until)
        self.group = group

    def run(self):
        with open(os.path.join(self.group, 'cgroup.procs'), 'r+', encoding='ascii') as f:
            f.write(str(os.getpid()))
        super().run()


class MemoryGroup:
    """A memory group of 24 MiB, of either version, where that is ours to make; else None."""
    KINDS = (('/sys/fs/cgroup', 'memory.max'),
             ('/sys/fs/cgroup/memory', 'memory.limit_in_bytes'))

    def __enter__(self):
        self.path = None
        for top, limit in self.KINDS:
            at = os.path.join(top, f'specfs-stress-{os.getpid()}')
            if not os.path.exists(os.path.join(top, 'cgroup.procs')):
                continue
            try:
                os.mkdir(at)
            except OSError:
                continue
            try:
                with open(os.path.join(at, limit), 'r+', encoding='ascii') as f:
                    f.write(str(24 << 20))
            except OSError:
                os.rmdir(at)
                continue
            self.path = at
            break
        if not self.path:
            print('no memory group to be had: without memory pressure', flush=True)
        return self.path

    def __exit__(self, *failure):
        if self.path:
            wait_for(self.is_removed, f'{self.path} is empty')
        return False

    def is_removed(self):
        try:
            os.rmdir(self.path)
        except OSError as e:
            return e.errno != errno.EBUSY
        return True


class Round:
    """One mount from its start to its end."""

    def __init__(self, v, number, group):
        self.v, self.r, self.number = v, random.Random(SEED + number), number
        until = time.monotonic() + ROUND_SEC
        kinds = [Reader, Builder, Editor] * (WORKERS // 2) + [Syncer]
        if EVENTS in v.opts and shutil.which('inotifywait'):
            kinds.append(Watching)
        if may_forget():
            kinds.append(Forgetter)
        self.end = ENDS[number // 2 % len(ENDS)]
        self.midst = number % 2 == 1
        actors = [k(v, self.r.randrange(1 << 30), until) for k in kinds]
        if group:
            actors.append(Cramped(v, self.r.randrange(1 << 30), until, group))
        for a in actors:
            a.midst = self.midst
        self.children = [Child(type(a).__name__, a.run) for a in actors]

    def fail(self, what, hangs=False):
        """Report, with where everybody waits if that matters, and let them go."""
        text = [f'round {self.number} (seed {SEED}, end {self.end}): {what}']
        for pid in [self.v.daemon.pid] + [c.pid for c in self.children] if hangs else []:
            text.append(stacks(pid))
        for c in self.children:
            c.kill()
        if hangs:
            self.v.daemon.kill()
            subprocess.run(['umount', '-f', self.v.mnt], stderr=subprocess.DEVNULL, check=False)
        for c in self.children:
            c.wait(HANG_SEC)
        raise AssertionError('\n'.join(text))

    def wait_all(self, ok):
        for c in list(self.children):
            status = c.wait(ROUND_SEC + HANG_SEC)
            if status is None:
                self.fail(f'{c.name} {c.pid} hangs', True)
            self.children.remove(c)
            if status not in ok:
                self.fail(f'{c.name} ends with {status}')

    def bounded(self, name, call):
        """Run what touches the mount in a process of its own, that may hang."""
        child = Child(name, call)
        self.children.append(child)
        status = child.wait(HANG_SEC)
        if status is None:
            self.fail(f'{name} hangs', True)
        self.children.remove(child)
        true(status == 0, f'round {self.number}, seed {SEED}: {name} failed, see above')

    def end_in_peace(self):
        """Everybody stops; after a sync the view is what a fresh mount shows."""
        self.wait_all((0, ))
        self.bounded('comparing', lambda: compare(self.v))
        self.end_mount(self.end)

    def end_in_the_midst(self):
        time.sleep(ROUND_SEC * self.r.random())
        self.end_mount(self.end)
        # the mount went away under them: any error will do, but nothing half, and they end
        self.wait_all((0, 1))

    def end_mount(self, how):
        v = self.v
        if how == 'term':
            v.daemon.send_signal(signal.SIGTERM)
            time.sleep(self.r.random())
            v.daemon.send_signal(signal.SIGTERM)
        elif how == 'kill':
            v.daemon.kill()
            self.bounded('umount', lambda: v.cli('umount', v.mnt))
        elif how == 'lazy':
            self.bounded('umount', lambda: v.cli('umount', '--lazy', v.mnt))
        else:
            self.bounded('umount', lambda: v.cli('umount', v.mnt, ok=(0, 2)))
            if is_mounted(v.mnt):  # in use
                self.bounded('umount', lambda: v.cli('umount', '--lazy', v.mnt))
        try:
            status = v.daemon.wait(HANG_SEC)
        except subprocess.TimeoutExpired:
            self.fail('the daemon hangs', True)
        true(how == 'kill' or status == 0, f'exit status of the daemon: {status}')
        v.daemon = None
        true(not is_mounted(v.mnt), 'nothing is mounted')


def compare(v):
    v.cli('sync', v.mnt)
    fresh = os.path.join(v.tmp, 'fresh')
    v.cli('mount', '-b', 'b', '-p', 'flagtree', '-r', '-s', fresh + '-scratch', v.root, fresh)
    try:
        skip = ('.git', '.specfs', 'third_party') + tuple(f'build{i}' for i in range(MANY))
        got, want = snapshot(v.mnt, skip), snapshot(fresh, skip)
        wrong = sorted(k for k in got.keys() | want.keys() if got.get(k) != want.get(k))
        equal(wrong[:5], [], f'names that differ from a fresh mount ({len(wrong)})')
        equal({d: sorted(os.listdir(v.path(d))) for d in DIRS},
              {d: sorted(os.listdir(os.path.join(fresh, d))) for d in DIRS}, 'listings')
    finally:
        # lazily: another test's namespace may have it, too
        v.cli('umount', '--lazy', fresh)


def everything_at_once():
    print(f'seed {SEED}, rounds of {ROUND_SEC:.0f} s', flush=True)
    end, number = time.monotonic() + SECONDS, 0
    with view(prepare=prepare, more={'.gitignore': 'build*/\n'}, mount=False) as v, \
            MemoryGroup() as group:
        while time.monotonic() < end:
            v.opts = PLAIN + ['-o', EVENTS] * (number // 8 % 2 == 0)
            v.mount()
            rnd = Round(v, number, group)
            if rnd.midst:
                rnd.end_in_the_midst()
            else:
                rnd.end_in_peace()
            for mark in SANITIZER_MARKS:
                true(mark not in v.log(), f'the log has no "{mark}" (seed {SEED})')
            number += 1
            for name in os.listdir(v.mnt):  # made by a builder once the mount was gone
                shutil.rmtree(os.path.join(v.mnt, name))
        v.mount()
        wait_for(lambda: v.exists('doc/t.txt'), 'a last mount')
    print(f'{number} rounds', flush=True)


main(everything_at_once)
