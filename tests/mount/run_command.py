# SPDX-License-Identifier: MIT
"""`specfs run`: the command sees the view at ROOT itself, nobody else does, nothing is left."""
import os
import pty
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from mounted import View, equal, git, is_mounted, main, read_file, run, true, wait_for, write_file
from runplace import MARKER, Place

ASK_STATUS = ['git', '-c', 'safe.directory=*', 'status', '--porcelain']
SPEC = 'third_party/b/spec_cpp/include'
SMALL = {
    '.gitignore': 'build/\n',
    'doc/t.txt': 'trunk text\n',
    'include/t.h': 'trunk t\n',
    'include/both.h': 'trunk both\n',
    SPEC + '/both.h': 'spec both\n',
}


def small(**kw):
    return Place(SMALL, 'b', opts=['-p', 'flagtree'], **kw)


def the_view_is_at_root_itself():
    with Place('flagtree-mini', 'mthreads') as v:
        equal(v.see('cat', MARKER).stdout, 'mthreads', 'marker by a relative path')
        equal(v.see('cat', os.path.join(v.root, MARKER), cwd='/').stdout, 'mthreads', 'absolute')
        v.nothing_is_left()
        true(not os.path.lexists(os.path.join(v.root, MARKER)), 'no marker in the checkout')
        equal(v.git('status', '--porcelain', '--ignored'), '', 'git status of the checkout')


def others_see_the_checkout_meanwhile():
    with small() as v:
        p = v.begin('sh', '-c', 'cat include/both.h; read x; cat doc/t.txt; read x; cat doc/t.txt')
        equal(p.stdout.readline(), 'spec both\n', 'inside')
        equal(read_file(os.path.join(v.root, 'include/both.h')), b'trunk both\n', 'outside')
        true(not is_mounted(v.root), 'nothing is mounted outside')
        p.stdin.write('\n')
        p.stdin.flush()
        equal(p.stdout.readline(), 'trunk text\n', 'inside, before an edit')
        write_file(os.path.join(v.root, 'doc/t.txt'), 'newer text\n')
        # the edit comes in by itself, however busy the machine is
        wait_for(lambda: b'newer' in inside(p, v, 'doc/t.txt'), 'an edit outside is seen inside')
        out, err = p.communicate('\n', 60)
        equal((p.returncode, out, err), (0, 'newer text\n', ''), 'end')
        v.nothing_is_left()


def inside(p, v, rel):
    """A file as the program that @p runs has it; the daemon, its other child, is outside."""
    [pid] = [pid for pid, line in commands(p) if line.startswith(b'sh\0')]
    return read_file(f'/proc/{pid}/root{v.root}/{rel}')


def the_status_is_the_commands():
    with small() as v:
        v.env['PATH'] = os.defpath  # a directory that may not be searched gives 126
        for text, want in (('exit 0', 0), ('exit 7', 7), ('exit 255', 255), ('kill -9 $$', 137),
                           ('kill -TERM $$', 143)):
            equal(v.see('sh', '-c', text, ok=None).returncode, want, text)
        for name, want in (('specfs-no-such-program', 127), ('doc/t.txt', 126), ('./doc', 126)):
            p = v.see(name, ok=None)
            equal(p.returncode, want, name)
            equal((p.stderr.count('\n'), name in p.stderr), (1, True), f'lines: {p.stderr!r}')
        v.nothing_is_left()


def signals_reach_the_command():
    for sig in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        if signal.getsignal(sig) == signal.SIG_IGN:  # by nohup, say: sh traps no such signal
            signal.signal(sig, signal.SIG_DFL)
    script = 'trap "echo got; exit 3" {0}; echo ready; while :; do sleep 0.1; done'
    with small() as v:
        for sig in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            p = v.begin('sh', '-c', script.format(sig.name[3:]))
            equal(p.stdout.readline(), 'ready\n', sig.name)
            p.send_signal(sig)
            equal((p.communicate(timeout=60)[0], p.returncode), ('got\n', 3), sig.name)
        p = v.begin('sleep', '100')
        wait_for(lambda: any(line.startswith(b'sleep\0') for _, line in commands(p)), 'sleep runs')
        p.terminate()
        p.communicate(timeout=60)
        equal(p.returncode, 128 + signal.SIGTERM, 'of a command that SIGTERM ends')
        v.nothing_is_left()


def a_key_of_the_terminal_comes_once():
    script = ('n=0; trap "n=\\$((n + 1))" INT; echo ready\n'
              'while [ $n = 0 ]; do sleep 0.1; done; sleep 0.5; echo n=$n; exit 3')
    with small() as v:
        pid, terminal = pty.fork()
        if not pid:
            os.chdir(v.root)
            os.execve(v.bin, v.argv('sh', '-c', script), v.env)
        said = b''
        while b'ready' not in said:
            said += os.read(terminal, 100)
        os.write(terminal, b'\x03')
        while b'n=' not in said:
            said += os.read(terminal, 100)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        os.close(terminal)
        equal((b'n=1' in said, status), (True, 3), f'interrupts of the command, status: {said!r}')
        v.nothing_is_left()


def commands(p):
    """(pid, command line) of each of @p's children."""
    pids = [int(c) for c in read_file(f'/proc/{p.pid}/task/{p.pid}/children').split()]
    return [(pid, read_file(f'/proc/{pid}/cmdline')) for pid in pids]


def words_and_directory_are_the_callers():
    with small() as v:
        words = ['', '--help', '-b', '--', 'a b']
        out = v.see('printf', '%s|', *words).stdout
        equal(out, '|--help|-b|--|a b|', 'words')
        doc = os.path.join(v.root, 'doc')
        equal(v.see('sh', '-c', '/bin/pwd; cat t.txt', cwd=doc).stdout, doc + '\ntrunk text\n',
              'in a directory of the checkout')
        equal(v.see('/bin/pwd', cwd=v.tmp).stdout, v.tmp + '\n', 'elsewhere')
        os.mkdir(os.path.join(v.root, 'build'))
        p = v.see('true', cwd=os.path.join(v.root, 'build'), ok=None)
        equal((p.returncode, 'working directory' in p.stderr), (2, True),
              f'in one that the view hides: {p.stderr!r}')
        p = run([v.bin, 'run', '-b', 'b', '-p', 'flagtree', '--', 'cat', 'both.h'],
                cwd=os.path.join(v.root, 'include'), env=v.env)
        equal(p.stdout, 'spec both\n', 'ROOT is found from the working directory')
        v.nothing_is_left()


def what_is_written_goes_where_a_mount_puts_it():
    with small() as v:
        v.see('sh', '-ec',
              'echo x >> doc/t.txt; echo n > include/n.h; mkdir build; echo o > build/o')
        equal(read_file(os.path.join(v.root, 'doc/t.txt')), b'trunk text\nx\n', "owner's")
        equal(read_file(os.path.join(v.root, SPEC, 'n.h')), b'n\n', "the backend's")
        true(not os.path.lexists(os.path.join(v.root, 'build')), 'no build directory outside')
        equal(v.see('cat', 'build/o').stdout, 'o\n', "scratch's, in the next run")
        v.see('sh', '-c', 'echo gone > doc/t.txt', opts=['--scratch-all'])
        equal(read_file(os.path.join(v.root, 'doc/t.txt')), b'trunk text\nx\n', '--scratch-all')
        p = v.see('sh', '-c', 'echo gone > doc/t.txt', opts=['-r'], ok=None)
        true(p.returncode and 'Read-only' in p.stderr, f'-r: {p.stderr!r}')
        v.nothing_is_left()


def a_shared_map_is_written_before_the_end():
    code = ('import mmap\n'
            'with open("doc/t.txt", "r+b") as f: mmap.mmap(f.fileno(), 0)[:5] = b"TRUNK"\n')
    with small() as v:
        v.see(sys.executable, '-c', code)
        equal(read_file(os.path.join(v.root, 'doc/t.txt')), b'TRUNK text\n', 'when run returns')


def git_says_what_it_says_in_a_mount():
    with Place('flagtree-mini', 'enflame') as v:
        got = v.see(*ASK_STATUS).stdout
        true(got, 'the backend shows as changes of tracked files')
        with View(root=v.root, backend='enflame') as m:
            equal(got, git(m.mnt, 'status', '--porcelain'), 'git status')
        equal(v.git('status', '--porcelain'), '', 'outside')


def scratch_belongs_to_one_at_a_time():
    with small() as v:
        p = v.begin('sh', '-c', 'echo ready; read x')
        equal(p.stdout.readline(), 'ready\n', 'the first runs')
        words = ['-b', 'b', '-p', 'flagtree', v.root]
        v.fault('run', *words, '--', 'true', has=['scratch', 'in use', "'specfs run'", '-s DIR'])
        v.fault('mount', *words, v.mnt, has=['scratch', 'in use', "'specfs run'", '-s DIR'])
        equal(v.see('cat', 'include/both.h', opts=['-s', v.scratch]).stdout, 'spec both\n',
              'with another scratch directory')
        p.communicate('\n', 60)
        v.cli('mount', *words, v.mnt)
        try:
            v.fault('run', *words, '--', 'true', has=['scratch', 'in use', v.mnt])
        finally:
            v.cli('umount', v.mnt)
        v.nothing_is_left()


def who_stays_behind_keeps_the_view():
    late = '(read x < ../fifo; cat include/both.h > build/late) > /dev/null 2>&1 & exit 5'
    with small() as v:
        os.mkfifo(os.path.join(v.tmp, 'fifo'))
        v.see('mkdir', 'build')
        equal(v.see('sh', '-c', late, ok=(5, ), limit_sec=60).returncode, 5, 'status')
        true(v.processes(), 'the daemon serves on')
        with open(os.path.join(v.tmp, 'fifo'), 'w') as f:
            f.write('\n')
        v.wait_until_nothing_is_left()
        equal(v.see('cat', 'build/late').stdout, 'spec both\n', 'what it saw')


def mistakes_are_told_in_a_line():
    with small() as v:
        words = ['run', '-b', 'b', '-p', 'flagtree']
        v.fault(*words, v.root, has=["'--'"])
        v.fault(*words, v.root, 'true', has=["'--'"])
        v.fault(*words, v.root, '--', has='empty')
        v.fault(*words, v.root, 'x', '--', 'true', has="'x'")
        v.fault(*words, '-o', 'nosuch', v.root, '--', 'true', has=["'nosuch'", 'specfs run --help'])
        v.fault('run', '-b', 'nope', v.root, '--', 'true', has="'nope'")
        v.fault(*words, '-s', os.path.join(v.root, 's'), v.root, '--', 'true', has='inside')
        v.fault('run', '-l', v.tmp, '/', '--', 'true', has="over '/'")
        p = v.see(v.bin, *words, v.root, '--', 'true', ok=None)
        equal((p.returncode, p.stderr.count('\n'), 'mounted view' in p.stderr), (2, 1, True),
              f'run inside run: {p.stderr!r}')
        v.nothing_is_left()


main(the_view_is_at_root_itself, others_see_the_checkout_meanwhile, the_status_is_the_commands,
     signals_reach_the_command, a_key_of_the_terminal_comes_once,
     words_and_directory_are_the_callers, what_is_written_goes_where_a_mount_puts_it,
     a_shared_map_is_written_before_the_end, git_says_what_it_says_in_a_mount,
     scratch_belongs_to_one_at_a_time, who_stays_behind_keeps_the_view,
     mistakes_are_told_in_a_line)
