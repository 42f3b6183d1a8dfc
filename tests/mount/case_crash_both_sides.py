# SPDX-License-Identifier: MIT
"""Both sides at once: programs in the mount and edits of the same names in layers, with a kernel
that forgets.  Nothing hangs, everybody gets on, and at the end the view is what the layers say.
"""
import errno
import os
import random
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from children import forget, start  # noqa: E402
from daemontree import SPEC, view  # noqa: E402
from mounted import equal, main, need_program, read_file, run, true, write_file  # noqa: E402

SEC = float(os.environ.get('SPECFS_STRESS_SEC', '4'))
HANG_SEC = 60
# what a race for a name may end in
RACES = {
    errno.ENOENT, errno.EEXIST, errno.ENOTEMPTY, errno.EISDIR, errno.ENOTDIR, errno.ESTALE,
    errno.EBUSY, errno.EXDEV, errno.EINVAL
}


def attempt(call, *args):
    try:
        return call(*args)
    except OSError as e:
        if e.errno not in RACES:
            raise
        return None


def look(top, end, r):
    """ls -lR and cat of everything; the number of rounds."""
    rounds = 0
    while time.monotonic() < end:
        for base, dirs, files in os.walk(top):
            for name in dirs + files:
                attempt(os.lstat, os.path.join(base, name))
            for name in files:
                attempt(read_file, os.path.join(base, name))
            if r.random() < 0.2:
                attempt(os.listdir, base)
        rounds += 1
    return rounds


def change(top, end, r):
    """Files and directories of shared names made, rewritten, renamed and removed."""
    rounds = 0
    while time.monotonic() < end:
        d = os.path.join(top, f'shared{r.randrange(3)}')
        a, b = (os.path.join(d, f'n{r.randrange(8)}') for _ in range(2))
        step = r.randrange(7)
        if step == 0:
            attempt(os.mkdir, d)
        elif step == 1:
            attempt(write_existing, a, b'text\n' * r.randrange(1, 3000))
        elif step == 2:
            attempt(os.rename, a, b)
        elif step == 3:
            attempt(os.unlink, a)
        elif step == 4:
            attempt(os.rename, d, os.path.join(top, f'shared{r.randrange(3)}'))
        elif step == 5:
            attempt(os.rmdir, d)
        else:
            attempt(os.mkdir, a)
        rounds += 1
    return rounds


def write_existing(path, data):
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        os.write(fd, data)
    finally:
        os.close(fd)


def go_on_forgetting(end):
    while time.monotonic() < end:
        forget(wait=False)
        time.sleep(0.3)


def progress(work, *args):
    """In a child: 2 if nothing was done at all."""
    return 0 if work(*args) else 2


def all_end(pids):
    """Statuses of the children; one that hangs fails the test instead of hanging it."""
    end, left = time.monotonic() + SEC + HANG_SEC, dict.fromkeys(pids)
    while None in left.values() and time.monotonic() < end:
        for pid in [p for p, status in left.items() if status is None]:
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                left[pid] = status
        time.sleep(0.02)
    for pid in [p for p, status in left.items() if status is None]:
        os.kill(pid, 9)
    return list(left.values())


def same_as_the_layers(v, place, parts):
    """Names and contents of a merged directory, against the layers themselves."""
    want = {}
    for part in reversed(parts):
        for base, dirs, files in os.walk(part):
            rel = os.path.relpath(base, part)
            for name in dirs:
                want[os.path.normpath(os.path.join(rel, name))] = None
            for name in files:
                want[os.path.normpath(os.path.join(rel, name))] = read_file(
                    os.path.join(base, name))
    got = {}
    for base, dirs, files in os.walk(v.path(place)):
        rel = os.path.relpath(base, v.path(place))
        for name in dirs:
            got[os.path.normpath(os.path.join(rel, name))] = None
        for name in files:
            got[os.path.normpath(os.path.join(rel, name))] = read_file(os.path.join(base, name))
    equal({k: x and len(x) for k, x in got.items()}, {k: x and len(x) for k, x in want.items()},
          f'{place}: names and sizes')
    true(got == want, f'{place}: contents')


def edits_of_both_sides_never_hang(cpus):

    def test():
        with view() as v:
            if cpus:
                os.sched_setaffinity(v.daemon.pid, cpus)
            end, pids = time.monotonic() + SEC, []
            for i, top in enumerate((v.path('doc'), f'{v.root}/doc')):
                pids.append(start(progress, change, top, end, random.Random(i)))
                pids.append(start(progress, look, top, end, random.Random(i + 2)))
            pids.append(start(go_on_forgetting, end))
            if cpus:
                for pid in pids:
                    os.sched_setaffinity(pid, cpus)
            equal(all_end(pids), [0] * len(pids), 'statuses of those who work')
            v.cli('sync', v.mnt)
            same_as_the_layers(v, 'doc', [f'{v.root}/doc'])

    test.__name__ = 'edits_of_both_sides_never_hang' + ('_on_one_processor' if cpus else '')
    return test


def a_listing_settles():
    """Names that come, go and change size in two layers at once: no phantoms afterwards."""
    with view() as v:
        end = time.monotonic() + SEC
        watcher = subprocess.Popen(
            ['sh', '-c', 'while :; do ls -l "$1" >/dev/null 2>&1; done', 'sh', v.path('include')])
        r = random.Random(5)
        try:
            while time.monotonic() < end:
                top = r.choice((f'{v.root}/include', f'{v.root}/{SPEC}'))
                a, b = (os.path.join(top, f'g{r.randrange(100)}.h') for _ in range(2))
                dice = r.random()
                if dice < 0.5:
                    write_file(a, 'x' * r.randrange(1, 5000))
                elif dice < 0.75:
                    attempt(os.rename, a, b)
                else:
                    attempt(os.unlink, a)
                time.sleep(0.005)
        finally:
            watcher.kill()
            watcher.wait()
        v.cli('sync', v.mnt)
        same_as_the_layers(v, 'include', [f'{v.root}/{SPEC}', f'{v.root}/include'])
        listed = {}
        for line in run(['ls', '-l', v.path('include')]).stdout.splitlines()[1:]:
            fields = line.split()
            listed[fields[-1]] = int(fields[4])
        equal(listed, {n: os.stat(v.path(f'include/{n}')).st_size for n in v.listdir('include')},
              'sizes that ls says')


def editors_save_again_and_again():
    """vim with each way to write and to keep a backup: content, mode and names are right."""
    need_program('vim')
    with view() as v:
        os.mkdir(v.path('build'))
        v.write('build/b.txt', 'scratch text\n')
        for name in ('doc/t.txt', 'include/t.h', 'include/both.h', 'build/b.txt'):
            os.chmod(v.path(name), 0o640)
            before = sorted(v.listdir(os.path.dirname(name)))
            first = v.read(name)
            for way in ('yes', 'no', 'auto'):
                for backup in ('writebackup', 'nowritebackup'):
                    run(['vim', '-u', 'NONE', '-i', 'NONE', '-es', '-n', '-c',
                         f'set backupcopy={way} {backup} nobackup', '-c', 'normal Gorow', '-c',
                         'w', '-c', 'normal Gorow', '-c', 'w', '-c', 'q', v.path(name)],
                        ok=(0, ), limit_sec=60)
            equal(v.read(name), first + b'row\n' * 12, f'{name}: content')
            equal(os.stat(v.path(name)).st_mode & 0o777, 0o640, f'{name}: mode')
            equal(sorted(v.listdir(os.path.dirname(name))), before, f'{name}: no litter')
        equal(read_file(f'{v.root}/include/t.h'), b'trunk t\n', 'the trunk file')
        true(v.daemon.poll() is None, 'the daemon is alive')


main(edits_of_both_sides_never_hang(None),
     edits_of_both_sides_never_hang({min(os.sched_getaffinity(0))}), a_listing_settles,
     editors_save_again_and_again)
