# SPDX-License-Identifier: MIT
"""Words that a user may get wrong: each missing, doubled, empty, of another kind, or far too long,
for every command.  The answer is one line and a status, never a crash, and nothing is mounted."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from daemontree import view  # noqa: E402
from mounted import equal, is_mounted, main, run, true, write_file  # noqa: E402

COMMANDS = ('mount', 'umount', 'run', 'list', 'status', 'which', 'sync', 'backends')


def odd_words(v):
    """name -> word"""
    write_file(f'{v.tmp}/plain', 'x')
    os.symlink('loop', f'{v.tmp}/loop')
    return {
        'empty': '',
        'a file': f'{v.tmp}/plain',
        'a loop of links': f'{v.tmp}/loop',
        'missing': f'{v.tmp}/no/such/place',
        '5000 characters': 'x' * 5000,
        '5000 characters of path': '/x' * 2500,
        'a new line': 'a\nb',
        'bytes of no encoding': '\udcff\udcfe',
        'a format': '%s%n%d',
        'a dash': '-',
        'a lone option': '-b',
        'an unknown option': '--no-such-thing',
        '/': '/',
    }


def answer(v, what, *words):
    p = run([v.bin, *words], env=v.env, cwd=v.tmp, ok=None, limit_sec=60)
    true(p.returncode in (0, 1, 2), f'{what}: status {p.returncode}: {p.stderr[-300:]}')
    if p.returncode == 2:
        true(1 <= p.stderr.count('\n') <= 2, f'{what}: lines on stderr: {p.stderr!r}')
        true(p.stderr.startswith('specfs'), f'{what}: who says it: {p.stderr!r}')
    true(not is_mounted(v.mnt), f'{what}: nothing is mounted')
    return p


def every_word_of_every_command():
    with view(mount=False) as v:
        v.env['HOME'] = v.tmp
        for command in COMMANDS:
            for name, word in odd_words_once(v).items():
                answer(v, f'{command} with {name}', command, word)
                if command in ('mount', 'run'):
                    for option in ('-b', '-p', '-s', '-l', '-o'):
                        p = answer(v, f'{command} {option} with {name}', command, option, word,
                                   v.root + '/nothing', v.mnt, *(['--', 'true']
                                                                if command == 'run' else []))
                        true(p.returncode != 0, f'{command} {option} with {name} fails')


def odd_words_once(v):
    words = getattr(v, 'odd', None)
    if words is None:
        words = v.odd = odd_words(v)
        del words['/']  # a view of everything is nothing to try here
    return words


def doubled_and_missing_words():
    with view(mount=False) as v:
        for words in ((), ('mount', v.root, v.mnt, v.mnt), ('mount', '-s'), ('mount', '-o', ''),
                      ('mount', '-o', 'cache=never', v.root, v.mnt), ('umount', ), ('sync', ),
                      ('mount', '-b', 'b', '-b', 'nosuch', '-p', 'flagtree', v.root, v.mnt),
                      ('status', v.mnt, v.mnt), ('nosuch', )):
            p = answer(v, f'specfs {words}', *words)
            equal(p.returncode, 2, f'status of specfs {words}: {p.stdout[:200]}')


def each_stage_that_fails_leaves_nothing():
    """A layer, the scratch directory, the mountpoint: told by name, and nothing half done."""
    with view(mount=False) as v:
        write_file(f'{v.tmp}/file', '')
        first = ('mount', '-b', 'b', '-p', 'flagtree')
        gone, file, inside = v.tmp + '/gone', v.tmp + '/file', v.root + '/s'
        cases = {
            'checkout': (gone, '-s', v.scratch, gone, v.mnt),
            'layer': (gone, '-s', v.scratch, '-l', gone, v.root, v.mnt),
            'scratch': (file, '-s', file, v.root, v.mnt),
            'mountpoint': (file, '-s', v.scratch, v.root, file),
            'mountpoint in the checkout': (v.root + '/doc', '-s', v.scratch, v.root,
                                           v.root + '/doc'),
            'scratch in the checkout': (inside, '-s', inside, v.root, v.mnt),
        }
        for what, (named, *words) in cases.items():
            p = answer(v, what, *first, *words)
            equal((p.returncode, p.stderr.count('\n'), p.stdout), (2, 1, ''),
                  f'{what}: {p.stderr!r}')
            true(named in p.stderr, f'{what}: it names {named}: {p.stderr!r}')
        equal(os.listdir(v.mnt), [], 'the mountpoint is empty')
        equal(v.git('status', '--porcelain', '--ignored'), '', 'the checkout is as it was')


main(every_word_of_every_command, doubled_and_missing_words, each_stage_that_fails_leaves_nothing)
