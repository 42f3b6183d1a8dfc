#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""specfs(1) and the option tables of the program must not part.

    test_manual.py PRINT_OPTIONS [--update]

PRINT_OPTIONS is the built program that prints the tables. The manual's lists stand between lines
`.\\" begin options COMMAND` (or `list`) and `.\\" end`; --update writes them there.
"""
import glob
import os
import re
import shutil
import subprocess
import sys

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MANUAL = os.path.join(TREE, 'fs', 'man', 'specfs.1')
PLACE = re.compile(r'(?m)^\.\\" begin (\w+ \w+)\n(.*?)^\.\\" end\n', re.S)


def read_tables(program):
    """{'options mount': mdoc text} of every table, and {'mount': its words}."""
    out = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    parts = re.split(r'(?m)^@(\w+ \w+)\n', out)[1:]
    tables = dict(zip(parts[::2], parts[1::2]))
    words = {k.split()[1]: v for k, v in tables.items() if k.startswith('command ')}
    return {k: v for k, v in tables.items() if not k.startswith('command ')}, words


def check_lists(text, tables):
    faults = []
    places = {m.group(1): m.group(2) for m in PLACE.finditer(text)}
    for name in sorted(set(tables) | set(places)):
        if places.get(name) != tables.get(name):
            faults.append(f'specfs.1, {name}: differs from the table; run this test with --update')
    return faults


def check_commands(text, words):
    faults = []
    synopsis = text.split('.Sh SYNOPSIS')[1].split('.Sh ')[0]
    for name, takes in words.items():
        if f'.Cm {name}\n' not in synopsis:
            faults.append(f'specfs.1: SYNOPSIS lacks {name}')
        if f'.Ss {name}\n' not in text:
            faults.append(f'specfs.1: there is no section about {name}')
        block = synopsis.split(f'.Cm {name}\n')[-1].split('.Nm\n')[0]
        for word in re.findall(r'[A-Z]+', takes):
            if f'Ar {word}' not in block:
                faults.append(f'specfs.1: SYNOPSIS of {name} lacks {word}')
    return faults


def check_form():
    if not shutil.which('mandoc'):
        print('mandoc is not installed: the form of the manual is not checked')
        return []
    pages = sorted(glob.glob(os.path.join(os.path.dirname(MANUAL), '*.[1-9]')))
    p = subprocess.run(['mandoc', '-T', 'lint', '-W', 'warning', *pages],
                       check=False,
                       capture_output=True,
                       text=True)
    return (p.stdout + p.stderr).splitlines()


def main():
    tables, words = read_tables(sys.argv[1])
    with open(MANUAL, encoding='utf-8') as f:
        text = f.read()
    if sys.argv[2:] == ['--update']:
        text = PLACE.sub(
            lambda m: f'.\\" begin {m.group(1)}\n{tables.get(m.group(1), "")}.\\" end\n', text)
        with open(MANUAL, 'w', encoding='utf-8') as f:
            f.write(text)
    faults = check_lists(text, tables) + check_commands(text, words) + check_form()
    for line in faults:
        print(line)
    return 1 if faults else 0


sys.exit(main())
