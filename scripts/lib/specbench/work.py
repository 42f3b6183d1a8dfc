# SPDX-License-Identifier: MIT
"""The workloads: what is done in a tree, and how long it took."""
import os
import shutil
import subprocess
import sys
import time

from .place import Failure, run
from .tree import ARCHIVES, TOPS

# `target` is a ratio to ext4, or a number of requests; `peers`: not slower than kernel overlayfs.
TIME, REQUESTS = 'time', 'requests'


class Workload:
    def __init__(self, key, title, step, target=None, beats_overlayfs=False, kind=TIME):
        self.key, self.title, self.step = key, title, step
        self.target, self.beats_overlayfs, self.kind = target, beats_overlayfs, kind


class Bench:
    """What the workloads need besides a tree."""

    def __init__(self, probe, args, modules, outside):
        self.probe, self.modules, self.outside = probe, modules, outside
        self.mib, self.small, self.units = args.mib, args.small_files, args.units
        self.dirs, self.large_below, self.round = [], [], 0

    def timed(self, *words):
        """Seconds that the probe measured."""
        return int(run([self.probe] + [str(w) for w in words]).split()[0]) / 1e9


def stopwatch(argv, **more):
    start = time.perf_counter()
    run(argv, **more)
    return time.perf_counter() - start


# ------------------------------------------------------------------ trees


def drop_caches():
    """Names and attributes, the kernel's and so also what its file systems remember of them."""
    os.sync()
    with open('/proc/sys/vm/drop_caches', 'w', encoding='ascii') as f:
        f.write('2')


def stat_walk(b, fs):
    return b.timed('stat', *fs.tops())


def stat_walk_cold(b, fs):
    if os.geteuid():
        return None
    drop_caches()
    return b.timed('stat', *fs.tops())


def readdir(b, fs):
    return b.timed('list', *fs.tops())


def read_files(b, fs):
    return b.timed('read', *fs.tops())


def missing_dirs(b, fs):
    return [fs.path(d) for d in b.dirs]


def missing_repeated(b, fs):
    return b.timed('missing', 'again', 20, *missing_dirs(b, fs))


def missing_new(b, fs):
    return b.timed('missing', f'new{b.round}', 20, *missing_dirs(b, fs))


def git_status(b, fs):
    env = dict(os.environ, GIT_OPTIONAL_LOCKS='0', GIT_CONFIG_NOSYSTEM='1', HOME=b.outside)
    return stopwatch(['git', '-C', fs.top, 'status', '--porcelain'], env=env)


IMPORT = '''
import importlib, sys, time
start = time.perf_counter()
for name in sys.stdin.read().split():
    importlib.import_module(name)
print(time.perf_counter() - start)
'''


def python_import(b, fs):
    env = {k: v for k, v in os.environ.items() if not k.startswith('PYTHON')}
    env['PYTHONPATH'] = fs.path('python')
    done = subprocess.run([sys.executable, '-c', IMPORT], input=b.modules, env=env, text=True,
                          capture_output=True, check=False)
    if done.returncode:
        raise Failure(f'{fs.name}: import: {done.stderr.strip().splitlines()[-1]}')
    return float(done.stdout)


def greps(b, fs):
    argv = ['grep', '-rqF', 'no such text', *TOPS]
    start = time.perf_counter()
    all_of_them = [subprocess.Popen(argv, cwd=fs.top, stderr=subprocess.DEVNULL) for _ in range(8)]
    for p in all_of_them:
        if p.wait() > 1:
            raise Failure(f'{fs.name}: grep failed')
    return time.perf_counter() - start


def tar(b, fs):
    return stopwatch(['sh', '-c', 'tar -cf - "$@" | cat >/dev/null', 'sh', *TOPS], cwd=fs.top)


# ------------------------------------------------------------------ writing


def small_files(b, fs):
    return b.timed('small', fs.out('small'), b.small)


def small_files_redirected(b, fs):
    where = fs.redirected('small')
    return b.timed('small', where, b.small) if where else None


def large(fs):
    return fs.path('big.bin')


def cold(b, fs):
    """Drop the pages of the large file, also those of the files that it may really be."""
    for path in [large(fs)] + b.large_below:
        run([b.probe, 'drop', path])


def sequential_warm(b, fs):
    return b.timed('sequential', large(fs))


def sequential_cold(b, fs):
    cold(b, fs)
    return b.timed('sequential', large(fs))


def random_warm(b, fs):
    return b.timed('random', large(fs), 20 * b.mib)


def random_cold(b, fs):
    cold(b, fs)
    return b.timed('random', large(fs), 4 * b.mib)


def map_read(b, fs):
    return b.timed('map', large(fs))


def write_at(b, path):
    try:
        return b.timed('write', path, b.mib)
    finally:
        if os.path.exists(path):
            os.unlink(path)


def write_new(b, fs):
    return write_at(b, os.path.join(fs.out('large'), 'new'))


def write_new_redirected(b, fs):
    where = fs.redirected('large')
    return write_at(b, os.path.join(where, 'new')) if where else None


def random_write(b, fs):
    path = os.path.join(fs.out('large'), 'written')
    if not os.path.exists(path):
        b.timed('write', path, max(1, b.mib // 8))
    return b.timed('random-write', path, 10 * b.mib)


# ------------------------------------------------------------------ builds


def build_file(b, fs, where):
    """A build as CMake's is: absolute paths, archives of two units each, one program."""
    cc = f'cc -O1 -g -I{fs.path("include")} -MD -MF $out.d -c $in -o $out'
    lines = ['rule cc', f'  command = {cc}', '  deps = gcc', '  depfile = $out.d',
             'rule ar', '  command = rm -f $out && ar qc $out $in',
             'rule link', '  command = cc -o $out $in']
    archives = [f'lib{i}.a' for i in range(min(ARCHIVES, b.units))]
    for i in range(b.units):
        lines.append(f'build unit{i}.o: cc {fs.path(f"lib/bench/unit{i}.c")}')
    for i, name in enumerate(archives):
        units = ' '.join(f'unit{u}.o' for u in range(b.units) if u % len(archives) == i)
        lines.append(f'build {name}: ar {units}')
    lines += [f'build main.o: cc {fs.path("lib/bench/main.c")}',
              f'build main: link main.o {" ".join(archives)}', 'default main']
    with open(os.path.join(where, 'build.ninja'), 'w', encoding='utf-8') as f:
        f.write('\n'.join(lines) + '\n')


def fresh(where):
    """An empty build directory."""
    for name in os.listdir(where):
        path = os.path.join(where, name)
        if os.path.isdir(path):
            shutil.rmtree(path)
        else:
            os.unlink(path)
    return where


def build_dir(b, fs, kind):
    if kind == 'inside':
        return fs.out('build')
    if kind == 'redirected':
        return fs.redirected('build')
    path = os.path.join(b.outside, 'build', fs.name)
    os.makedirs(path, exist_ok=True)
    return path


def ninja(kind):
    def step(b, fs):
        where = build_dir(b, fs, kind)
        if not where:
            return None
        build_file(b, fs, fresh(where))
        return stopwatch(['ninja', '-C', where])
    return step


def ninja_again(kind):
    def step(b, fs):
        where = build_dir(b, fs, kind)
        if not where:
            return None
        if not os.path.exists(os.path.join(where, 'main')):
            build_file(b, fs, fresh(where))
            run(['ninja', '-C', where])
        return stopwatch(['ninja', '-C', where])
    return step


def requests_of(kind):
    """Requests of one warm build; only specfs counts its own."""
    def step(b, fs):
        where = build_dir(b, fs, kind) if fs.requests() is not None else None
        if not where:
            return None
        build_file(b, fs, fresh(where))
        before = fs.requests()
        run(['ninja', '-C', where])
        return max(0, fs.requests() - before)
    return step


WORKLOADS = (
    Workload('stat', 'stat walk, warm', stat_walk, 1.10, True),
    Workload('stat-cold', 'stat walk, cold', stat_walk_cold, 5),
    Workload('readdir', 'readdir, warm', readdir, 1.10, True),
    Workload('read', 'open+read+close of every file, warm', read_files, 1.4),
    Workload('missing', 'negative stat, repeated names', missing_repeated, 1.6),
    Workload('missing-new', 'negative stat, new names', missing_new, 12),
    Workload('git', 'git status, warm', git_status, 1.10, True),
    Workload('import', 'Python import of everything', python_import, 1.20),
    Workload('greps', '8 parallel greps, warm', greps, 1.10, True),
    Workload('tar', 'tar to a pipe, warm', tar, 1.10, True),
    Workload('small', 'small files: create, write, rename, unlink', small_files, 6),
    Workload('small-redirected', '  the same, redirected', small_files_redirected, 1.1),
    Workload('read-warm', 'large file: sequential read, warm', sequential_warm, 1.1),
    Workload('read-cold', 'large file: sequential read, cold', sequential_cold),
    Workload('random-warm', 'large file: random reads, warm', random_warm),
    Workload('random-cold', 'large file: random reads, cold', random_cold),
    Workload('map', 'large file: read through a map', map_read, 2),
    Workload('write', 'large file: write to close', write_new, 4),
    Workload('write-redirected', '  the same, redirected', write_new_redirected, 1.1),
    Workload('random-write', 'large file: random writes', random_write),
    Workload('build', 'full build, directory inside', ninja('inside'), 1.05),
    Workload('build-redirected', '  the same, redirected', ninja('redirected'), 1.05),
    Workload('build-outside', '  the same, outside', ninja('outside'), 1.02),
    Workload('noop', 'no-op build, directory inside', ninja_again('inside'), 1.10),
    Workload('noop-redirected', '  the same, redirected', ninja_again('redirected'), 1.10),
    Workload('noop-outside', '  the same, outside', ninja_again('outside'), 1.10),
    Workload('requests', 'requests of a build, directory inside', requests_of('inside'), 5000,
             kind=REQUESTS),
    Workload('requests-redirected', '  the same, redirected', requests_of('redirected'), 100,
             kind=REQUESTS),
    Workload('requests-outside', '  the same, outside', requests_of('outside'), 0, kind=REQUESTS),
)
