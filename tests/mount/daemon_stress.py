# SPDX-License-Identifier: MIT
"""Many at once: processes that do anything to shared names, each with files of its own that must
stay right, while the layers are edited and the kernel forgets.  SPECFS_STRESS_SEC makes it longer.
"""
import errno
import os
import random
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from children import forget  # noqa: E402
from daemontree import view  # noqa: E402
from mounted import equal, main, true  # noqa: E402

SECONDS = float(os.environ.get('SPECFS_STRESS_SEC', '6'))
PLACES = ('build', 'doc', 'include', 'new')
PROCESSES = 3
# what a race for a name may end in
RACES = {
    errno.ENOENT, errno.EEXIST, errno.ENOTEMPTY, errno.EISDIR, errno.ENOTDIR, errno.ESTALE,
    errno.EINVAL, errno.ELOOP, errno.EXDEV, errno.EBUSY
}
if os.geteuid() != 0:
    RACES.add(errno.EACCES)  # some of the shared files may not be written


class Worker:
    """One process: a thread for shared names, a thread for its own files."""

    def __init__(self, v, number, end):
        self.v, self.number, self.end = v, number, end
        self.faults = []

    def shared(self, r):
        d = self.v.path(r.choice(PLACES))
        if r.random() < 0.3:
            return os.path.join(d, f'hd{r.randrange(4)}', f'h{r.randrange(10)}')
        return os.path.join(d, f'h{r.randrange(30)}')

    def directory(self, r):
        return os.path.join(self.v.path(r.choice(PLACES)), f'hd{r.randrange(4)}')

    def edit(self, path, r):
        fd = os.open(path, os.O_RDWR)
        try:
            os.pwrite(fd, b'abc', r.randrange(5000))
            os.fstat(fd)
            os.pread(fd, 100, 0)
        finally:
            os.close(fd)

    def append(self, path, r):
        with open(path, 'ab') as f:
            f.write(os.urandom(r.randrange(1, 9000)))

    def read(self, path):
        with open(path, 'rb') as f:
            f.read()

    def chaos(self):
        r = random.Random(self.number * 2)
        actions = (
            lambda p, q: os.close(
                os.open(p, os.O_CREAT | os.O_RDWR, r.choice([0o644, 0o444, 0o600]))),
            lambda p, q: self.append(p, r),
            lambda p, q: self.read(p),
            lambda p, q: os.unlink(p),
            os.rename,
            os.link,
            lambda p, q: os.symlink('h1', p),
            lambda p, q: os.mkdir(self.directory(r)),
            lambda p, q: os.rmdir(self.directory(r)),
            lambda p, q: os.listdir(os.path.dirname(p)),
            lambda p, q: os.lstat(p),
            lambda p, q: os.truncate(p, r.randrange(20000)),
            lambda p, q: os.chmod(p, r.choice([0o644, 0o755, 0o400])),
            lambda p, q: os.utime(p),
            lambda p, q: os.rename(self.directory(r), self.directory(r)),
            lambda p, q: self.edit(p, r),
        )
        while time.monotonic() < self.end:
            i = r.randrange(len(actions))
            p, q = self.shared(r), self.shared(r)
            try:
                actions[i](p, q)
            except OSError as e:
                if e.errno not in RACES:
                    self.faults.append(f'action {i} on {p}, {q}: {e}')

    def own(self):
        r = random.Random(self.number * 2 + 1)
        model, d = {}, self.v.path(r.choice(PLACES))
        while time.monotonic() < self.end:
            name = f'p{self.number}_{r.randrange(12)}'
            try:
                self.own_step(r, d, name, model)
            except OSError as e:
                self.faults.append(f'own file {d}/{name}: {e}')

    def own_step(self, r, d, name, model):
        path, dice = os.path.join(d, name), r.random()
        if dice < 0.3:
            model[name] = os.urandom(r.randrange(1, 30000))
            with open(path, 'wb') as f:
                f.write(model[name])
        elif name not in model:
            if os.path.lexists(path):
                self.faults.append(f'{path} is there and was not made')
        elif dice < 0.45:
            with open(path, 'ab') as f:
                f.write(b'tail')
            model[name] += b'tail'
        elif dice < 0.55:
            size = r.randrange(len(model[name]) + 1)
            os.truncate(path, size)
            model[name] = model[name][:size]
        elif dice < 0.6:
            os.unlink(path)
            del model[name]
        elif dice < 0.7:
            other = f'p{self.number}_{r.randrange(12)}'
            os.rename(path, os.path.join(d, other))
            model[other] = model.pop(name)
        else:
            with open(path, 'rb') as f:
                got = f.read()
            if got != model[name]:
                self.faults.append(
                    f'{path}: {len(got)} bytes, not the {len(model[name])} that were written')
        if r.random() < 0.05:
            got = {n for n in os.listdir(d) if n.startswith(f'p{self.number}_')}
            if got != set(model):
                self.faults.append(f'{d}: listing and own files differ in {got ^ set(model)}')

    def run(self):
        threads = [threading.Thread(target=t) for t in (self.chaos, self.own)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        for fault in self.faults[:10]:
            print(f'process {self.number}: {fault}', flush=True)
        return 1 if self.faults else 0


def disturb(v, end):
    """Edits underneath, and a kernel that forgets (if that is ours to ask)."""
    r = random.Random(7)
    while time.monotonic() < end:
        path = os.path.join(v.root, r.choice(('doc', 'include')), f'h{r.randrange(30)}')
        try:
            if r.random() < 0.5:
                with open(path, 'a') as f:
                    f.write('underneath\n')
            else:
                os.unlink(path)
        except OSError as e:
            true(e.errno in RACES, f'{path}: {e}')
        if r.random() < 0.02:
            forget(wait=False)
        time.sleep(0.005)


def everything_at_once():
    with view() as v:
        for place in PLACES:
            os.makedirs(v.path(place), exist_ok=True)
        end = time.monotonic() + SECONDS
        pids = []
        for number in range(PROCESSES):
            pid = os.fork()
            if not pid:
                os._exit(Worker(v, number, end).run())
            pids.append(pid)
        disturb(v, end)
        equal([os.waitpid(pid, 0)[1] for pid in pids], [0] * PROCESSES,
              'exit statuses of the processes')
        true(v.exists('doc/t.txt'), 'the daemon is alive')


main(everything_at_once)
