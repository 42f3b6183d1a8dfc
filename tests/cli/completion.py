# SPDX-License-Identifier: MIT
"""bash completes commands, options, backends and mount options, as the program tells them."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, 'lib'), os.path.join(HERE, '..', 'mount', 'lib')]

from checks import need_program, run
from mounted import equal, main, true
from workplace import Workplace

SCRIPT = os.path.join(HERE, '..', '..', 'config', 'specfs.bash')
ASK = r'''
. "$1"; program=$2; shift 2
compopt() { :; }
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_specfs "$program"
printf '%s\n' "${COMPREPLY[@]}"
'''


def complete(w, *words):
    p = run(['bash', '-c', ASK, 'bash', SCRIPT, w.bin, 'specfs', *words], cwd=w.root, env=w.env)
    equal(p.stderr, '', f'stderr of completing {words}')
    return p.stdout.split()


def commands_and_options():
    need_program('bash')
    with Workplace() as w:
        equal(complete(w, 'm'), ['mount'], 'specfs m')
        true({'umount', 'list', 'status', 'which', '--help'} <= set(complete(w, '')), 'specfs')
        equal(complete(w, 'mount', '--sc'), ['--scratch', '--scratch-all'], 'specfs mount --sc')
        equal(complete(w, 'which', '--r'), ['--root'], 'specfs which --r')
        equal(complete(w, 'redirect', ''), ['add', 'list', 'remove'], 'specfs redirect')
        equal(complete(w, 'redirect', '--f'), ['--form'], 'specfs redirect --f')
        equal(complete(w, 'mount', '-o', 'redir'), ['redirect='], 'specfs mount -o redir')


def values():
    need_program('bash')
    with Workplace() as w:
        equal(complete(w, 'mount', '-b', 'm'), ['mthreads'], 'specfs mount -b m')
        equal(complete(w, 'mount', '-b', 'mthreads,p'), ['mthreads,ppu'], 'a chain')
        equal(complete(w, 'mount', '-o', 'ca'), ['cache='], 'specfs mount -o ca')
        equal(complete(w, 'run', '-o', 'no'), ['noexec'], 'specfs run -o no')
        equal(complete(w, 'mount', '-o', 'ro,max'), ['ro,max_threads='], 'a list')
        true('third_party' in complete(w, 'mount', 'third'), 'files where nothing else is due')


main(commands_and_options, values)
