# SPDX-License-Identifier: MIT
"""Every way to get the command line wrong is one line and exit status 2, and makes nothing.

Arguments missing, doubled, empty, not existing, a file where a directory is due, 5000 characters.
"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, 'lib'), os.path.join(HERE, '..', 'mount', 'lib')]

from mounted import equal, main, snapshot, true
from workplace import Workplace

COMMANDS = ('mount', 'umount', 'list', 'status', 'which', 'backends')
TELLING = ('mount', 'list', 'status', 'which', 'backends')
LONG = 'x' * 5000


def every_command_has_help():
    with Workplace(None) as w:
        top = w.specfs('--help').stdout
        for name in COMMANDS:
            true(f'  {name} ' in top, f'specfs --help lists {name}')
            for words in ([name, '--help'], [name, '-h'], ['help', name], [name, '-h', '--nope']):
                p = w.specfs(*words)
                true(p.stdout.startswith(f'usage: specfs {name} '), f'specfs {words} shows usage')
                equal(p.stderr, '', f'stderr of specfs {words}')
            equal('--json' in p.stdout, name in TELLING, f'specfs {name} --help has --json')
        for line in top.splitlines():
            true(len(line) <= 80, f'{line!r} fits 80 columns')


def version():
    with Workplace(None) as w:
        true(w.specfs('--version').stdout.startswith('specfs '), 'specfs --version')
        equal(w.specfs('-V').stdout, w.specfs('--version').stdout, 'specfs -V')


def unknown_words_are_told():
    with Workplace(None) as w:
        w.fault(has=['no command', 'specfs --help'])
        w.fault('frobnicate', has=["unknown command 'frobnicate'", 'specfs --help'])
        w.fault('', has="unknown command ''")
        w.fault('--nope', has="unknown option '--nope'")
        w.fault('help', 'nope', has="unknown command 'nope'")
        w.fault(LONG, has='unknown command')
        for name in COMMANDS:
            hint = f"see 'specfs {name} --help'"
            w.fault(name, '--nope', has=["unknown option '--nope'", hint])
            w.fault(name, '-Z', has=["unknown option '-Z'", hint])
            w.fault(name, '--' + LONG, has=['unknown option', hint])
            w.fault(name, '--help=yes', has=['takes no value', hint])


def wrong_numbers_of_words_are_told():
    with Workplace(None) as w:
        for words in (['umount'], ['which']):
            w.fault(*words, has='argument is missing')
        for words in (['mount', 'a', 'b', 'c'], ['umount', 'a', 'b'], ['list', 'a'],
                      ['status', 'a', 'b'], ['backends', 'a', 'b']):
            w.fault(*words, has=f"too many: '{words[-1]}'")
        for words in (['mount', ''], ['mount', '.', ''], ['umount', ''], ['status', ''],
                      ['which', ''], ['backends', '']):
            w.fault(*words, has='an argument is empty')


def a_line_stays_a_line():
    with Workplace(None) as w:
        w.fault('umount', 'two\nlines\x1b[31m', has='two\\nlines\\x1b[31m')
        w.fault('mount', '-b', 'a\nb', '/nope\nroot', has='nope\\nroot')


def options_of_mount():
    with Workplace() as w:
        r = w.root
        for words, has in (
            (['-b', ''], "'-b' has an empty value"),
            (['-b', 'a,,b'], 'empty word'),
            (['-b', 'mthreads,mthreads'], "'mthreads' is named twice"),
            (['-s', 'a', '-s', 'b'], "'-s' is given twice"),
            (['-p', 'a', '--profile=b'], "'--profile' is given twice"),
            (['-o', 'cache=never'], "'never' is none of auto, strict, ttl=SECONDS"),
            (['-o', 'cache=ttl=0'], "'0' is no number of seconds"),
            (['-o', 'cache=ttl=x'], "'x' is no number of seconds"),
            (['-o', 'cache=ttl=inf'], "'inf' is no number of seconds"),
            (['-o', 'cache'], "mount option 'cache' needs a value"),
            (['-o', 'max_threads=0'], 'not a number from 1 to'),
            (['-o', 'max_threads=many'], 'not a number from 1 to'),
            (['-o', 'write=trunk', '-l', r], 'expected owner'),
            (['-o', 'write=owner'], 'for views with -l'),
            (['-o', 'allow_other,allow_root'], 'exclude each other'),
            (['-o', 'ro,nope,rw'], "unknown mount option 'nope'"),
            (['-o', LONG], 'unknown mount option'),
            (['-o', 'remount'], 'cannot be remounted'),
        ):
            w.fault('mount', *words, r, w.path('m'), has=has)
        w.fault('mount', r, '-b', has="'-b' needs a value: BACKEND")
        equal(sorted(os.listdir(w.tmp)), ['root'], 'what is there after all these')


def roots_that_are_none():
    with Workplace({'a/b': 'file\n'}, use_git=False) as w:
        file = os.path.join(w.root, 'a/b')
        for name in ('mount', 'backends'):
            w.fault(name, w.path('nope'), has=['nope', 'No such file'])
            w.fault(name, file, has='is not a directory')
            w.fault(name, file + '/x', has='Not a directory')
            w.fault(name, LONG, has='File name too long')
            w.fault(name, cwd=w.root, has=[f"no checkout around '{w.root}'", 'name one'])
        os.symlink('loop', w.path('loop'))
        w.fault('mount', w.path('loop'), has='Too many levels')
        equal(sorted(os.listdir(w.tmp)), ['loop', 'root'], 'what is there after all these')


def backends_and_profiles_that_are_none():
    with Workplace() as w:
        before = snapshot(w.tmp)
        at = w.path('m')
        w.fault('mount', '-b', 'nope', w.root, at, has=["no backend 'nope'", 'mthreads', 'ppu'])
        w.fault('mount', '-b', LONG, w.root, at, has='no backend')
        w.fault('mount', '-b', '../x', w.root, at, has='../x')
        w.fault('mount', '-p', 'nope', w.root, at, has=["no profile 'nope'", 'flagtree'])
        w.fault('mount', '-p', './nope.ini', w.root, at, has='nope.ini')
        w.fault('mount', '-l', w.path('nope'), w.root, at, has=['layer', 'nope', 'No such file'])
        w.fault('mount', '-l', w.root + '/CMakeLists.txt', w.root, at, has='not a directory')
        equal(snapshot(w.tmp), before, 'what is there after all these')


def faults_of_a_profile_have_file_and_line():
    with Workplace() as w:
        ini = w.path('bad.ini')
        with open(ini, 'w', encoding='utf-8') as f:
            f.write('[profile]\nname = bad\n\n[map x]\nat = .\nfrom = spec\nform = typo\n')
        w.fault('mount', '-p', ini, '-b', 'mthreads', w.root, w.path('m'), has=f'{ini}:7: ')
        w.fault('backends', '-p', ini, w.root, has=f'{ini}:7: ')
        os.rename(ini, os.path.join(w.root, '.specfs.ini'))
        w.fault('mount', '-b', 'mthreads', w.root, w.path('m'), has='.specfs.ini:7: ')
        equal(sorted(os.listdir(w.tmp)), ['root'], 'what is there after all these')


def output_that_cannot_be_written_is_a_fault():
    with Workplace() as w:
        with open('/dev/full', 'w', encoding='utf-8') as full:
            import subprocess
            p = subprocess.run([w.bin, 'backends', w.root], stdout=full, stderr=subprocess.PIPE,
                               env=w.env, text=True, check=False, timeout=60)
        equal(p.returncode, 2, 'exit status with a full output')
        true('cannot write the output' in p.stderr, f'it says so: {p.stderr!r}')


main(every_command_has_help, version, unknown_words_are_told, wrong_numbers_of_words_are_told,
     a_line_stays_a_line, options_of_mount, roots_that_are_none,
     backends_and_profiles_that_are_none, faults_of_a_profile_have_file_and_line,
     output_that_cannot_be_written_is_a_fault)
