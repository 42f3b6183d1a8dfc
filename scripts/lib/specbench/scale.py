# SPDX-License-Identifier: MIT
"""How cost grows with the number of files: mounting, memory, descriptors, one layer event.

The checkout is a git repository with all files in its index.
"""
import os
import resource
import shutil
import statistics
import subprocess
import time

from .mounts import Specfs
from .place import Failure, note, run, unmount
from .tree import TOPS, Tree
from .work import drop_caches

SIZES = (4_000, 100_000, 1_000_000)
MOUNT_MSEC, FILES_LIMIT, EVENTS, EVENT_SEC, WALKS = 50, 1024, 50, 10, 4


class Limited(Specfs):
    """Mounted with few descriptors."""

    def mount(self):
        os.makedirs(self.top, exist_ok=True)
        os.makedirs(self.scratch, exist_ok=True)
        argv = [self.program, 'mount', '-q', '-b', 'bench', '-p', 'flagtree', '-s', self.scratch,
                self.root, self.top]
        start = time.perf_counter()
        done = subprocess.run(argv, env=self.env, stdin=subprocess.DEVNULL, check=False,
                              preexec_fn=lambda: resource.setrlimit(
                                  resource.RLIMIT_NOFILE, (FILES_LIMIT, FILES_LIMIT)))
        took = time.perf_counter() - start
        if done.returncode:
            raise Failure(f"'{' '.join(argv)}' failed with {done.returncode}")
        return took * 1000


def resident_kb(pid):
    with open(f'/proc/{pid}/status', encoding='ascii', errors='replace') as f:
        return next(int(line.split()[1]) for line in f if line.startswith('VmRSS:'))


def settled(value, wanted):
    """@value() once it is @wanted, or what it is after a while."""
    end = time.monotonic() + EVENT_SEC
    while not wanted(value()) and time.monotonic() < end:
        time.sleep(0.05)
    return value()


def event_usec(fs):
    """From a change in the checkout to its sight in the mount: median."""
    times = []
    for i in range(EVENTS):
        below, seen = (os.path.join(top, f'lib/event-{i}') for top in (fs.root, fs.top))
        if os.path.exists(seen):
            raise Failure(f"'{seen}' is there already")
        start = time.perf_counter()
        os.close(os.open(below, os.O_WRONLY | os.O_CREAT))
        while not os.path.exists(seen):
            if time.perf_counter() - start > EVENT_SEC:
                raise Failure(f"'{seen}' did not show within {EVENT_SEC} s")
        times.append(time.perf_counter() - start)
    for i in range(EVENTS):
        os.unlink(os.path.join(fs.root, f'lib/event-{i}'))
    return statistics.median(times) * 1e6


def timed(act):
    start = time.perf_counter()
    act()
    return (time.perf_counter() - start) * 1000


def walked(fs, probe, pid, before):
    """Once everything has been looked at: what is known, and what that takes."""
    tops = [fs.path(t) for t in TOPS]
    # what others make the kernel drop in the meantime is looked at again
    for _ in range(WALKS):
        run([probe, 'stat', *tops])
        known, kb = fs.status()['cache']['nodes'], resident_kb(pid)
        if known >= fs.files:
            break
    run([probe, 'read', fs.path('include')])
    return {'known_files': known, 'rss_walked_kb': kb,
            'bytes_per_file': round((kb - before) * 1024 / known),
            'watched': fs.status()['cache']['watch']['directories'],
            'descriptors': len(os.listdir(f'/proc/{pid}/fd'))}


def forgotten(fs, pid, row):
    """What is left once the kernel has forgotten."""
    most = row['rss_mounted_kb'] + (row['rss_walked_kb'] - row['rss_mounted_kb']) // 20
    drop_caches()
    return {'known_after_forget': settled(lambda: fs.status()['cache']['nodes'],
                                          lambda n: n < row['known_files'] // 100),
            'rss_forgotten_kb': settled(lambda: resident_kb(pid), lambda kb: kb <= most)}


def cold_msec(fs):
    fs.unmount()
    drop_caches()
    return round(fs.mount(), 1)


def measure(fs, probe, runs):
    """One size: what goes into its row."""
    mounts, unmounts = [], []
    for _ in range(runs):
        mounts.append(fs.mount())
        unmounts.append(timed(fs.unmount))
    fs.mount()
    pid = fs.status()['pid']
    before = resident_kb(pid)
    row = {'mount_msec': round(statistics.median(mounts), 1),
           'unmount_msec': round(statistics.median(unmounts), 1), 'rss_mounted_kb': before}
    row.update(walked(fs, probe, pid, before))
    row['event_usec'] = round(event_usec(fs))
    if os.geteuid() == 0:
        row.update(forgotten(fs, pid, row))
        row['mount_cold_msec'] = cold_msec(fs)
    return row


def one_size(n, work, program, probe, env, runs):
    root = os.path.join(work, f'scale-{n}')
    made = Tree(root, n, empty=True).generate().made
    for words in ['init', '-q'], ['add', '-A']:
        run(['git', '-C', root, *words])
    fs = Limited(program, os.path.join(work, f'scale-{n}-view'), root, env)
    fs.files = made
    try:
        row = measure(fs, probe, runs)
    finally:
        unmount(fs.top)
        shutil.rmtree(root)
    return dict(row, files=made, met=row['mount_msec'] < MOUNT_MSEC
                and row['descriptors'] <= FILES_LIMIT)


COLUMNS = (('files', 'files'), ('mount_msec', 'mount, ms'), ('mount_cold_msec', 'cold, ms'),
           ('unmount_msec', 'umount, ms'), ('known_files', 'known'), ('watched', 'watched'),
           ('bytes_per_file', 'B/known'), ('rss_mounted_kb', 'RSS kB'),
           ('rss_walked_kb', 'walked'), ('rss_forgotten_kb', 'forgotten'),
           ('descriptors', 'descr.'), ('event_usec', 'event, us'), ('met', 'met'))


def scale(sizes, work, program, probe, env, runs):
    """All sizes, each printed as it is known. Returns the rows."""
    rows = []
    note(f'{FILES_LIMIT} descriptors at most; mounting is to take less than {MOUNT_MSEC} ms')
    print(''.join(f'{title:>11}' for _, title in COLUMNS))
    for n in sizes:
        rows.append(one_size(n, work, program, probe, env, runs))
        print(''.join(f'{str(rows[-1].get(key, "-")):>11}' for key, _ in COLUMNS), flush=True)
    return rows
