# SPDX-License-Identifier: MIT
"""scripts/bench with tiny sizes: it measures everything, says so in JSON, and leaves nothing."""
import json
import os
import signal
import subprocess
import sys

from children import undisturbed
from mounted import (TempDir, binary, equal, main, need_fuse, need_program, read_file, run, true,
                     wait_for)

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPT = os.path.join(HERE, '..', '..', 'scripts', 'bench')
TINY = ('--runs', '1', '--files', '200', '--mib', '2', '--small-files', '20', '--units', '1',
        '--peers', 'none')
ONLY_ROOT = {'stat-cold'}


def bench(d, *words, ok=(0, )):
    """It has the kernel forget, too: neither is it disturbed, nor does it disturb another test."""
    argv = [sys.executable, SCRIPT, '--specfs', binary(), '--dir', d, *words]
    with undisturbed():
        return run(argv, ok=ok, limit_sec=400).stdout


def need_tools():
    need_fuse()
    for name in 'cc', 'git', 'ninja':
        need_program(name)


def mounts_below(d):
    with open('/proc/self/mountinfo', encoding='utf-8', errors='surrogateescape') as f:
        return [line for line in f if f' {d}/' in line]


def check_row(row, peer):
    key = row['workload']
    if row['kind'] == 'requests':
        counts = row['requests']
        true(not counts or counts['specfs'] >= 0, f'{key}: requests')
        return
    if not row['ratios']:
        true(key.endswith('-redirected') or (key in ONLY_ROOT and os.geteuid()), f'{key}: ratios')
        return
    equal(row['ratios']['native'], 1.0, f'{key}: ext4 by itself')
    true(all(value > 0 for value in row['ratios'].values()), f'{key}: ratios')
    equal(peer in row['ratios'], not key.endswith('-redirected'), f'{key}: the own peer')
    for name, seconds in row['seconds'].items():
        equal(len(seconds), 1, f'{key}: rounds of {name}')


def all_workloads():
    need_tools()
    with TempDir() as d:
        facts, table = (os.path.join(d, name) for name in ('facts.json', 'table.md'))
        peer = f'view={binary()} mount -f -l {{upper}} -s {{work}} {{lower}} {{mountpoint}}'
        out = bench(d, '--json', facts, '--markdown', table, '--peer', peer, *TINY)
        with open(facts, encoding='utf-8') as f:
            found = json.load(f)
        equal(found['file_systems'], ['native', 'specfs', 'view'], 'file systems')
        for key in 'kernel', 'cpus', 'specfs', 'seconds', 'runs':
            true(key in found, f'{key} is told')
        rows = {row['workload']: row for row in found['workloads']}
        for row in rows.values():
            check_row(row, 'view')
            true(row['title'] in out, f'{row["title"]} is in the table')
        for key in 'stat', 'missing-new', 'git', 'import', 'small', 'write', 'map', 'build', 'noop':
            true('specfs' in rows[key]['ratios'], f'{key} was measured')
        # sources were read, their directory's names are known: only the build itself asks
        inside, outside = (rows[key]['requests']['specfs']
                           for key in ('requests', 'requests-outside'))
        true(inside > outside, f'requests of a build in the mount, {inside}, outside, {outside}')
        equal(read_file(table).count(b'\n'), len(rows) + 2, 'rows of the Markdown table')
        os.unlink(facts)
        os.unlink(table)
        equal(os.listdir(d), [], 'what is left')
        equal(mounts_below(d), [], 'what is left mounted')


def scale():
    need_tools()
    with TempDir() as d:
        facts = os.path.join(d, 'facts.json')
        bench(d, '--scale', '200,400', '--runs', '1', '--json', facts)
        with open(facts, encoding='utf-8') as f:
            rows = json.load(f)['scale']
        equal(len(rows), 2, 'sizes')
        for row in rows:
            for key in 'mount_msec', 'rss_walked_kb', 'descriptors', 'event_usec':
                true(row[key] > 0, f'{key}: {row[key]}')
            # the kernel counts memory in larger pieces than so few files take
            true(abs(row['bytes_per_file']) < 1 << 20, f'bytes of a file: {row["bytes_per_file"]}')
        true(rows[1]['known_files'] > rows[0]['known_files'], 'more files are more known files')


def a_signal_cleans_up():
    need_tools()
    with TempDir() as d:
        argv = [sys.executable, SCRIPT, '--specfs', binary(), '--dir', d, *TINY]
        with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as p:
            true(p.stdout.readline(), 'the head of the table')
            wait_for(lambda: mounts_below(d), 'a mount')
            p.send_signal(signal.SIGTERM)
            equal(p.wait(60), 128 + signal.SIGTERM, 'exit status')
        equal(os.listdir(d), [], 'what is left')
        equal(mounts_below(d), [], 'what is left mounted')


def wrong_words_are_one_line():
    need_tools()
    with TempDir() as d:
        for words, said in ((('--peers', 'zfs'), "no peer 'zfs'"),
                            (('--dir', d + '/no'), 'is not a directory'),
                            (('--only', 'walk'), "no workload 'walk'"),
                            (('--specfs', d), 'is not a program'),
                            (('--peer', 'x'), "'x': expected NAME=COMMAND"),
                            (('--peer', 'native=mount {mountpoint}'), 'expected another name'),
                            (('--peer', 'x=mount {lower}'), "'x': expected {mountpoint}"),
                            (('--peer', 'x=m {low} {mountpoint}'), 'no place {low}'),
                            (('--peer', 'x=a {mountpoint}', '--peer', 'x=b {mountpoint}'),
                             "--peer 'x' is given twice"),
                            (('--peer', 'x=echo no disk >&2; exit 3 # {mountpoint}'),
                             'x: the command failed with 3: no disk')):
            done = subprocess.run([sys.executable, SCRIPT, '--dir', d, '--specfs', binary(),
                                   *TINY, *words], capture_output=True, text=True, check=False)
            equal(done.returncode, 2, f'{words}: exit status')
            true(said in done.stderr.splitlines()[-1], f'{words}: {done.stderr}')


main(all_workloads, scale, a_signal_cleans_up, wrong_words_are_one_line)
