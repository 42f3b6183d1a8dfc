# SPDX-License-Identifier: MIT
"""Reads README.md: its console blocks, the commands and files it names."""
import os
import re

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def text():
    with open(os.path.join(TREE, 'README.md'), encoding='utf-8') as f:
        return f.read()


def section(title):
    """The lines below the heading @title, up to the next one of its level; '' if there is none."""
    found = re.search(rf'^(#+) {re.escape(title)}\n(.*?)(?=^\1 |\Z)', text(), re.M | re.S)
    return found.group(2) if found else ''


def steps(markdown):
    """[(command, expected output)] of all console blocks, in order."""
    found = []
    for block in re.findall(r'^```console\n(.*?)^```', markdown, re.M | re.S):
        for part in re.split(r'^\$ ', block, flags=re.M)[1:]:
            command, _, output = part.partition('\n')
            while command.endswith('\\'):
                more, _, output = output.partition('\n')
                command += '\n' + more
            found.append((command, output))
    return found


def pattern(expected):
    """A regular expression for output in which '...' stands for anything, alone for any lines."""
    parts = []
    for line in expected.splitlines():
        if line.strip() == '...':
            parts.append(r'(?:.*\n)*?')
        else:
            parts.append('.*?'.join(re.escape(p) for p in line.rstrip().split('...')) + r'[ \t]*\n')
    return re.compile(''.join(parts))


def commands():
    """Every command line that is shown, in console blocks and in code spans."""
    code = [command for command, _ in steps(text())]
    prose = re.sub(r'^```.*?^```', '', text(), flags=re.M | re.S)
    for block in re.findall(r'^```sh\n(.*?)^```', text(), re.M | re.S):
        code += block.splitlines()
    return code + re.findall(r'`([^`\n]+)`', prose)
