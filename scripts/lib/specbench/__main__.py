# SPDX-License-Identifier: MIT
"""Measure specfs side by side with ext4 and its peers.

Every workload is done in each file system in turn, in every round, so that a busy machine hits all
of them alike; what is told is the median over the rounds of the ratio to ext4 in the same round.
Exit status 0: done, whether targets are met or not; 2: could not measure.
"""
import argparse
import contextlib
import json
import os
import platform
import shutil
import subprocess
import sys
import time

from . import mounts, own, report, scale
from .place import Failure, note, place, run, unmount
from .tree import TOPS, UNITS, Tree
from .work import REQUESTS, WORKLOADS, Bench

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.normpath(os.path.join(HERE, '..', '..', '..'))
NEEDED = ('cc', 'git', 'ninja', 'grep', 'tar')
MIB_SPARE = 2048
DIRS_ASKED = 100  # directories that are asked for names they don't have


def positive(word):
    number = int(word)
    if number < 1:
        raise argparse.ArgumentTypeError(f"'{word}': expected a number from 1")
    return number


def arguments():
    p = argparse.ArgumentParser(prog='bench', description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--specfs', metavar='FILE', help='the program; default: $SPECFS_BIN, then the '
                   'newest build below build/, then the PATH')
    p.add_argument('--runs', type=positive, default=7, help='rounds of each workload (7)')
    p.add_argument('--files', type=positive, default=4000,
                   help='files of the tree, 4000 to 1000000 (4000)')
    p.add_argument('--mib', type=positive, default=512, help='size of the large file (512)')
    p.add_argument('--small-files', type=positive, default=5000, metavar='N',
                   help='small files made at a time (5000)')
    p.add_argument('--units', type=positive, default=UNITS, metavar='N',
                   help=f'files that a build compiles ({UNITS})')
    p.add_argument('--only', action='append', metavar='WORKLOAD',
                   help='only this one, and others so named: ' + ' '.join(w.key for w in WORKLOADS))
    p.add_argument('--peers', metavar='NAME,...', help='which of '
                   + ' '.join(x[0] for x in mounts.PEERS) + ', "all" or "none"; default: '
                   + ' '.join(mounts.USUAL) + ', what is not installed is left out')
    p.add_argument('--peer', action='append', default=[], type=own.peer, metavar='NAME=COMMAND',
                   help='one more, mounted by this command of the shell; with as many others as '
                   'are given. ' + own.PLACES)
    p.add_argument('--dir', help='where to work; default: a journalled ext4 image if root, else '
                   'the temporary directory')
    p.add_argument('--json', metavar='FILE', help='write all numbers there, too')
    p.add_argument('--markdown', metavar='FILE', help='write the table there, as Markdown')
    p.add_argument('--scale', nargs='?', const=','.join(map(str, scale.SIZES)), metavar='N,...',
                   help='instead: how mounting, memory, descriptors and events grow with the tree '
                   '(4000,100000,1000000 files)')
    args = p.parse_args()
    known = [w.key for w in WORKLOADS]
    for word in args.only or ():
        if word not in known:
            p.error(f"no workload '{word}', expected one of {' '.join(known)}")
    names = [peer.name for peer in args.peer]
    for name in names:
        if names.count(name) > 1:
            p.error(f"--peer '{name}' is given twice")
    if args.scale:
        try:
            args.scale = [positive(n) for n in args.scale.split(',')]
        except (ValueError, argparse.ArgumentTypeError):
            p.error(f"--scale '{args.scale}': expected numbers of files with commas between")
    return args


def find_program(given):
    """The specfs to measure, as an absolute path."""
    built = [os.path.join(where, 'specfs') for where, _, names
             in os.walk(os.path.join(SOURCE, 'build')) if 'specfs' in names]
    built.sort(key=os.path.getmtime, reverse=True)
    found = given or os.environ.get('SPECFS_BIN') or (built or [shutil.which('specfs')])[0]
    if not found:
        raise Failure('there is no specfs: build it (scripts/test), or name it with --specfs FILE')
    if not os.access(found, os.X_OK) or os.path.isdir(found):
        raise Failure(f"'{found}' is not a program")
    return os.path.abspath(found)


def build_probe(work):
    probe = os.path.join(work, 'probe')
    run(['cc', '-O2', '-D_GNU_SOURCE', '-o', probe, os.path.join(HERE, 'probe.c')])
    return probe


def daemon_env(work):
    """What specfs keeps for a user goes with the directory."""
    env = dict(os.environ, XDG_CACHE_HOME=os.path.join(work, 'cache'),
               XDG_RUNTIME_DIR=os.path.join(work, 'run'))
    os.makedirs(env['XDG_RUNTIME_DIR'], mode=0o700)
    return env


def commit(root):
    git = ['git', '-C', root, '-c', 'user.name=bench', '-c', 'user.email=bench@localhost',
           '-c', 'gc.auto=0']
    run(git + ['init', '-q'])
    run(git + ['add', '-A'])
    run(git + ['commit', '-q', '-m', 'the tree'])


def large_file(path, mib):
    with open(path, 'wb') as f:
        for _ in range(mib):
            f.write(os.urandom(1 << 20))


def prepare(args, work, undo):
    """All file systems, mounted and showing the same tree, and what the workloads need."""
    checkout, native = (os.path.join(work, d) for d in ('checkout', 'native'))
    outside = os.path.join(work, 'outside')
    os.mkdir(outside)
    tree = Tree(checkout, args.files, args.units).generate()
    commit(checkout)
    specfs = mounts.Specfs(find_program(args.specfs), work, checkout, daemon_env(work))
    undo.callback(unmount, specfs.top)
    specfs.mount()
    mounts.materialize(specfs.top, native, os.path.join(work, 'over'), checkout)
    for top in checkout, native:
        run(['git', '-C', top, 'status'])  # its index learns the times of the files
    b = Bench(build_probe(work), args, '\n'.join(tree.modules), outside)
    b.large_below = [os.path.join(top, 'big.bin') for top in (checkout, native)]
    for path in b.large_below:
        large_file(path, args.mib)
    own_peers = [own.OwnPeer(peer, work, specfs.env) for peer in args.peer]
    b.large_below += [peer.path_below('big.bin') for peer in own_peers if peer.lower]
    b.dirs = sorted(os.path.relpath(d, checkout) for d in tree.dirs
                    if os.path.relpath(d, checkout).startswith(('include', 'lib')))[:DIRS_ASKED]
    run([specfs.program, 'sync', specfs.top], env=specfs.env)
    names = {None: mounts.USUAL, 'none': (), 'all': [p[0] for p in mounts.PEERS]}.get(
        args.peers, (args.peers or '').split(','))
    peers = [mounts.mount_peer(p, work, undo) for p in mounts.installed(names)]
    for peer in own_peers:
        peer.mount(undo)
    return b, [mounts.Native('native', native), specfs] + [p for p in peers if p] + own_peers


def check_same(b, systems):
    """Whoever shows another tree is not measured against this one."""
    counts = {fs.name: run([b.probe, 'list', *fs.tops()]).split()[1] for fs in systems}
    for name, count in counts.items():
        if count != counts['native']:
            raise Failure(f"{name} shows {count} names, the tree has {counts['native']}")


def measure(workload, b, systems, runs):
    """Rounds, each with all file systems in turn. Returns the row."""
    times = {fs.name: [] for fs in systems}
    asked = []
    for i in range((runs if workload.kind != REQUESTS else min(runs, 2)) + 1):
        b.round += 1
        for fs in systems[i % len(systems):] + systems[:i % len(systems)]:
            counts = fs.requests() is not None and workload.kind != REQUESTS
            before = fs.requests() if counts else 0
            value = workload.step(b, fs)
            if not i:
                continue  # warming up
            times[fs.name].append(value)
            if counts and value is not None:
                asked.append(max(0, fs.requests() - before))
    return report.row_of(workload, times, asked)


def workloads(args, work, undo):
    b, systems = prepare(args, work, undo)
    check_same(b, systems)
    names = [fs.name for fs in systems[1:]]
    rows = []
    print(report.head(names))
    for w in WORKLOADS:
        if args.only and w.key not in args.only:
            continue
        rows.append(measure(w, b, systems, args.runs))
        print(report.line(w, rows[-1], names), flush=True)
    return {'file_systems': [fs.name for fs in systems], 'workloads': rows}


def versions(program):
    """What was measured, and on what."""
    found = {'kernel': platform.release(), 'cpus': os.cpu_count(),
             'specfs': run([program, '--version']).strip()}
    if shutil.which('fuse-overlayfs'):
        found['fuse-overlayfs'] = run(['fuse-overlayfs', '--version']).split('\n')[0]
    if shutil.which('pkg-config') and subprocess.run(
            ['pkg-config', '--exists', 'fuse3'], check=False).returncode == 0:
        found['libfuse'] = run(['pkg-config', '--modversion', 'fuse3']).strip()
    return found


def bench(args):
    for name in NEEDED:
        if not shutil.which(name):
            raise Failure(f"'{name}' is not installed")
    program = find_program(args.specfs)
    most = max(args.scale or [args.files])
    trees = 5 + len(args.peer)
    gib = (MIB_SPARE + (trees - 1) * args.mib + most * trees * 4 // 1024) // 1024 + 1
    started = time.time()
    with place(args.dir, gib, most * trees + 200_000) as work, contextlib.ExitStack() as undo:
        if args.scale:
            result = {'scale': scale.scale(args.scale, work, program, build_probe(work),
                                           daemon_env(work), args.runs)}
        else:
            result = workloads(args, work, undo)
    result.update(runs=args.runs, files=args.files, mib=args.mib, small_files=args.small_files,
                  units=args.units, tops=list(TOPS),
                  commands={peer.name: peer.command for peer in args.peer},
                  seconds=round(time.time() - started),
                  **versions(program))
    return result


def main():
    args = arguments()
    try:
        result = bench(args)
        if args.json:
            with open(args.json, 'w', encoding='utf-8') as f:
                json.dump(result, f, indent=1)
                f.write('\n')
        if args.markdown and 'workloads' in result:
            with open(args.markdown, 'w', encoding='utf-8') as f:
                f.write(report.markdown(result['workloads'], result['file_systems'][1:]))
    except (Failure, OSError) as e:
        note(e)
        return 2
    print(f'{result["runs"]} rounds, {result["seconds"]} s, kernel {result["kernel"]}, '
          f'{result["cpus"]} CPUs, libfuse {result.get("libfuse", "unknown")}')
    return 0


if __name__ == '__main__':
    sys.exit(main())
