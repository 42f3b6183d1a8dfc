# SPDX-License-Identifier: MIT
"""Runs the tour in README.md, command by command, and compares what it prints with what it shows.

Prints the real output of each step that differs. The home directory is a temporary one, shown as ~.
"""
import os
import re
import subprocess
import sys
import tempfile

import readme

SECTION = 'A five-minute tour'
LIMIT_SEC = 240


def can_mount():
    return os.access('/dev/fuse', os.R_OK | os.W_OK)


def run(commands, home):
    """[(output, exit status)] of @commands, run one after the other in one shell."""
    script = ['exec 2>&1', f'cd "{home}"']
    for command in commands:
        script += [command, r'printf "\001%d\001" $?']
    env = dict(
        os.environ,
        HOME=home,
        PATH=os.path.dirname(os.environ['SPECFS_BIN']) + ':' + os.environ['PATH'],
        SPECFS_SOURCE=readme.TREE,
        GIT_AUTHOR_NAME='you', GIT_AUTHOR_EMAIL='you@localhost',
        GIT_COMMITTER_NAME='you', GIT_COMMITTER_EMAIL='you@localhost',
        GIT_CONFIG_NOSYSTEM='1')
    for name in ('XDG_CACHE_HOME', 'XDG_RUNTIME_DIR', 'XDG_CONFIG_HOME'):
        env.pop(name, None)
    done = subprocess.run(['bash', '-c', '\n'.join(script)], env=env, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=LIMIT_SEC)
    parts = done.stdout.split('\001')
    return [(out.replace(home, '~'), int(status)) for out, status in zip(parts[::2], parts[1::2])]


def unmount_below(home):
    with open('/proc/self/mounts', encoding='utf-8') as f:
        for line in f:
            target = line.split()[1]
            if target.startswith(home + '/'):
                subprocess.run(['fusermount3', '-u', '-z', target], check=False)


def differences(steps, results):
    if len(results) != len(steps):
        yield f'the shell ended after {len(results)} of {len(steps)} steps'
    for (command, expected), (output, status) in zip(steps, results):
        if output and not output.endswith('\n'):
            output += '\n'
        if not readme.pattern(expected).fullmatch(re.sub(r'[ \t]+$', '', output, flags=re.M)):
            yield f'$ {command}\n{output}(exit status {status}); expected:\n{expected}'


def main():
    if not can_mount():
        print('/dev/fuse cannot be opened')
        return 77
    steps = readme.steps(readme.section(SECTION))
    if len(steps) < 5:
        print(f'README.md has no "{SECTION}" to speak of')
        return 1
    with tempfile.TemporaryDirectory(prefix='specfs-tour-') as home:
        try:
            results = run([command for command, _ in steps], home)
        finally:
            unmount_below(home)
    found = list(differences(steps, results))
    print('\n\n'.join(found))
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
