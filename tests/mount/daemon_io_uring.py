# SPDX-License-Identifier: MIT
"""-o io_uring: a view like any other where libfuse and the kernel have it, else one clear line."""
import json
import os
import subprocess

from mounted import View, equal, is_mounted, main, true


def is_offered(v):
    """Mount with io_uring; False after a refusal that says what is missing."""
    argv = [v.bin, 'mount', '-q', '-b', v.backend, '-s', v.scratch, '-o', 'io_uring', v.root, v.mnt]
    p = subprocess.run(argv, env=v.env, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    if p.returncode == 0:
        return True
    equal(p.returncode, 2, 'exit status of a refusal')
    equal(p.stderr.count('\n'), 1, f'lines of {p.stderr!r}')
    true("mount option 'io_uring': " in p.stderr, f'the option is named in {p.stderr!r}')
    true('expected' in p.stderr or 'as root' in p.stderr, f'what to do is in {p.stderr!r}')
    true(not is_mounted(v.mnt), 'nothing is mounted after a refusal')
    return False


def it_works_or_says_what_is_missing():
    with View('flagtree-mini', 'mthreads', mount=False) as v:
        if not is_offered(v):
            return
        equal(json.loads(v.read('.specfs/status'))['transport'], 'io_uring', 'transport')
        data = os.urandom(3 << 20)
        for i in range(200):
            v.write(f'build/{i}', data[i:i * 100])
        v.write('build/big', data)
        equal(v.read('build/big'), data, 'a big file')
        for i in range(200):
            equal(v.read(f'build/{i}'), data[i:i * 100], f'file {i}')
        subprocess.run(['specfs', 'sync', v.mnt], executable=v.bin, env=v.env, check=True)
        equal(len(v.listdir('build')), 201, 'names')


def views_without_it_say_so():
    with View('flagtree-mini', 'mthreads') as v:
        equal(json.loads(v.read('.specfs/status'))['transport'], 'device', 'transport')


main(it_works_or_says_what_is_missing, views_without_it_say_so)
