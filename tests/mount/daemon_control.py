# SPDX-License-Identifier: MIT
"""The hidden directory .specfs: found by name, never listed, always fresh, never changed."""
import errno
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from daemontree import view  # noqa: E402
from mounted import equal, fails, main, true  # noqa: E402


def it_is_found_but_not_listed():
    with view() as v:
        true('.specfs' not in os.listdir(v.mnt), 'listing of the root')
        equal(v.listdir('.specfs'), ['layers', 'status', 'version'], 'what is in it')
        fails(errno.ENOENT, os.stat, v.path('.specfs/nothing'))
        fails(errno.ENOENT, os.stat, v.path('doc/.specfs'))
        p = subprocess.run(['find', v.mnt, '-name', '.specfs'], stdout=subprocess.PIPE, check=True)
        equal(p.stdout, b'', 'find')


def status_tells_the_facts():
    with view() as v:
        s = json.loads(v.read('.specfs/status'))
        for key, want in (('root', v.root), ('mountpoint', v.mnt), ('scratch', v.scratch),
                          ('profile', 'flagtree'), ('backends', ['b']), ('readonly', False),
                          ('pid', v.daemon.pid)):
            equal(s[key], want, key)
        kinds = [layer['kind'] for layer in s['layers']]
        equal((kinds[0], kinds[-1]), ('scratch', 'trunk'), 'layers')
        equal(v.read('.specfs/layers').count(b'\n'), len(kinds), 'lines of .specfs/layers')
        true(v.read('.specfs/version').strip().decode() == s['version'], 'version')


def every_reader_gets_fresh_facts():
    with view() as v:
        last = -1
        for _ in range(50):
            os.path.exists(v.path('doc/no-such-name'))
            text = v.read('.specfs/status')
            lookups = json.loads(text)['requests']['lookup']
            true(lookups > last, f'look-ups counted: {lookups} after {last}')
            equal(len(text), len(text.rstrip(b'\0')), 'size fits the content')
            last = lookups


def nothing_in_it_can_be_changed():
    with view() as v:
        for call, args in ((os.mkdir, ('.specfs/d', )), (os.unlink, ('.specfs/status', )),
                           (os.rmdir, ('.specfs', )), (os.rename, ('.specfs', 'x')),
                           (os.rename, ('doc', '.specfs')), (os.link, ('.specfs/status', 'doc/l')),
                           (os.symlink, ('x', '.specfs/l'))):
            try:
                call(*[v.path(a) for a in args])
                raise AssertionError(f'{call.__name__}{args} succeeded')
            except OSError as e:
                true(
                    e.errno
                    in (errno.EPERM, errno.EROFS, errno.EACCES, errno.ENOTEMPTY, errno.EEXIST),
                    f'{call.__name__}{args}: {e}')
        for mode in ('w', 'a', 'r+'):
            try:
                with open(v.path('.specfs/status'), mode) as f:
                    f.write('x')
                raise AssertionError(f'status was opened for {mode} and written')
            except OSError as e:
                true(e.errno in (errno.EROFS, errno.EACCES, errno.EPERM), f'{mode}: {e}')
        equal(os.listxattr(v.path('.specfs/status')), [], 'attributes')
        true(json.loads(v.read('.specfs/status')), 'still there')


main(it_is_found_but_not_listed, status_tells_the_facts, every_reader_gets_fresh_facts,
     nothing_in_it_can_be_changed)
