#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks what style.md and the include arrow demand of every file; says each breach in one line.

    scripts/check-style.py [TREE]

Prints `path:line: what is wrong` for each and exits 1 when there was any. Files are those that git
knows or would add; without git, all but build directories. Sample checkouts (tests/trees) and test
data (tests/data) stand for other people's code and are held to the rules about paths only.
"""
import ast
import os
import re
import subprocess
import sys

MAX_LINES = 599
MAX_COLUMNS = 100
TOP_LEVEL = {'fs', 'include', 'config', 'tests', 'scripts', 'meson.build', 'meson_options.txt',
             'README.md', 'LICENSE'}

# Which folders of fs/ a folder may include headers from, itself apart.
ARROW = ['base', 'config', 'layout', 'layer', 'node', 'ops', 'daemon', 'cli']
MAY_INCLUDE = {folder: set(ARROW[:i]) for i, folder in enumerate(ARROW)}
MAY_INCLUDE['check'] = {'base', 'config', 'layout', 'layer'}
MAY_INCLUDE['cli'] |= {'check'}
MAY_INCLUDE['hooks'] = {'base'}
MAY_INCLUDE['python'] = {'base', 'hooks'}
FUSE_FOLDERS = {'ops', 'daemon'}

SAMPLES = ('tests/trees/', 'tests/data/')
NO_SPDX = {'.md', '.json', ''}
WIDE = {'.md', '.man'}

# Written so that they do not match themselves.
MACHINE_PATH = re.compile(r'(?<![\w.}$-])/(?:work|home|root|Users)[/]\w')
REGISTRY = re.compile(r'\b(?:deb\.debian|pypi|files\.pythonhosted|registry\.npmjs)\.org\b')
UNDONE = re.compile(r'\b(?:TO[D]O|FIX[M]E)\b')

COMMENT_OR_STRING = re.compile(
    r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
FUSE_HEADER = re.compile(r'^(?:fuse3?/)?(?:fuse|cuse)\w*\.h$')
FUNCTION = re.compile(r'^(?!typedef\b|#|return\b)[A-Za-z_][\w \t*]*?[ *](\w+)\(')
# What these promise is told once, for all types.
KNOWN_FUNCTION = re.compile(r'^cleanup_\w+$|_(?:init|clear|free|ref|unref)$')
SYMBOL = re.compile(r'^(?:#\s*define\s+(\w+)|(?:struct|enum|union)\s+(\w+)\s*\{)')


class Report:
    """Breaches found, in the order of files and lines."""

    def __init__(self):
        self.lines = []

    def add(self, path, line, text):
        self.lines.append((path, line, text))

    def show(self):
        for path, line, text in sorted(set(self.lines)):
            print(f'{path}:{line}: {text}')


def blank(match):
    """What stands for a comment or string: its line ends, and quotes where it was a string."""
    text = match.group(0)
    if text[0] in '"\'':
        return text[0] * 2
    return '\n' * text.count('\n')


def code_only(text):
    """C text without comments and without what strings say; line numbers stay."""
    return COMMENT_OR_STRING.sub(blank, text)


def suffix_of(path, text):
    """What kind of file it is: its suffix, .sh and .py by their first line too."""
    name = os.path.basename(path)
    if name in ('meson.build', 'meson_options.txt'):
        return '.build'
    if name.endswith('.in'):
        name = name[:-3]
    suffix = os.path.splitext(name)[1]
    if re.fullmatch(r'\.\d', suffix):
        return '.man'
    if not suffix and text.startswith('#!'):
        first = text.split('\n', 1)[0]
        return '.py' if 'python' in first else '.sh' if re.search(r'\b(ba)?sh\b', first) else ''
    return suffix


# ------------------------------------------------------------------ every file


def check_text(path, suffix, lines, report):
    if len(lines) > MAX_LINES:
        report.add(path, len(lines), f'{len(lines)} lines, at most {MAX_LINES}: split it')
    for number, line in enumerate(lines, 1):
        width = len(line.expandtabs(8))
        if width > MAX_COLUMNS and suffix not in WIDE:
            report.add(path, number, f'{width} columns, at most {MAX_COLUMNS}')
        if line != line.rstrip():
            report.add(path, number, 'blanks at the end of the line')
        if UNDONE.search(line):
            report.add(path, number, 'an open end: do it, or file it elsewhere')


def check_paths(path, lines, report):
    for number, line in enumerate(lines, 1):
        if MACHINE_PATH.search(line):
            report.add(path, number, "a path of somebody's machine")
        if REGISTRY.search(line):
            report.add(path, number, "a package registry's host name")


def check_spdx(path, suffix, lines, report):
    if suffix not in NO_SPDX and not any('SPDX-License-Identifier: MIT' in s for s in lines[:3]):
        report.add(path, 1, 'no SPDX-License-Identifier: MIT in the first three lines')


def check_top_level(path, report):
    top = path.split('/')[0]
    if top not in TOP_LEVEL and not top.startswith('.'):
        report.add(path, 1, f"'{top}' does not belong at the top of the tree")


# ------------------------------------------------------------------ C


def check_includes(path, lines, report):
    folder = path.split('/')[1] if path.startswith('fs/') else None
    for number, line in enumerate(lines, 1):
        found = INCLUDE.match(line)
        if not found:
            continue
        kind, name = found.groups()
        if FUSE_HEADER.match(name) and folder not in FUSE_FOLDERS:
            report.add(path, number, f'<{name}> outside fs/ops and fs/daemon')
        if folder and kind == '"':
            check_arrow(path, number, folder, name, report)


def check_arrow(path, number, folder, name, report):
    target = name.split('/')[0]
    if target == 'specfs':
        return
    if '/' not in name or target not in MAY_INCLUDE:
        report.add(path, number, f'"{name}": write "folder/header.h", the folder being one of fs/')
    elif folder not in MAY_INCLUDE:
        report.add(path, number, f"fs/{folder} has no place in the include arrow")
    elif target != folder and target not in MAY_INCLUDE[folder]:
        allowed = ' '.join(sorted(MAY_INCLUDE[folder])) or 'nothing else'
        report.add(path, number, f'fs/{folder} includes from {target}; it may from: {allowed}')


def check_c(path, text, lines, report):
    check_includes(path, lines, report)
    for number, line in enumerate(code_only(text).split('\n'), 1):
        if re.search(r'\bgoto\b', line):
            report.add(path, number, 'goto: cleanup attributes undo')
        if re.match(r'\s*typedef\s+(struct|enum|union)\b', line):
            report.add(path, number, 'typedef of a struct, enum or union: types are struct noun')
        if re.match(r' +\S', line) or re.match(r'\t* {8}', line):
            report.add(path, number, 'indented with spaces, expected tabs')


def uncommented(lines):
    """(line number, name) of each function that a header declares with no comment right above.

    Declarations that follow each other without an empty line share the comment of the first.
    """
    covered = False
    depth = 0
    for number, line in enumerate(lines, 1):
        if line.startswith('/*') or line.startswith(' *'):
            covered = True
            continue
        found = FUNCTION.match(line) if depth == 0 else None
        if found and not covered and not KNOWN_FUNCTION.search(found.group(1)):
            yield number, found.group(1)
        if not line.strip() and depth == 0:
            covered = False
        depth += line.count('{') - line.count('}')


def check_header(path, lines, report):
    for number, name in uncommented(lines):
        report.add(path, number, f'{name}() has no comment right above it')
    if not path.startswith('include/specfs/'):
        return
    for number, line in enumerate(lines, 1):
        found = FUNCTION.match(line) or SYMBOL.match(line)
        for name in found.groups() if found else ():
            if name and not name.lower().startswith('specfs_') and not name.startswith('__'):
                report.add(path, number, f"'{name}' is installed without the prefix specfs_")


def check_map(path, text, report):
    """A version script: what it exports carries the prefix."""
    exported = re.search(r'global:(.*?)(local:|\})', code_only(text), re.S)
    for name in re.findall(r'[\w*]+', exported.group(1)) if exported else ():
        if not name.startswith(('specfs_', 'PyInit_')):
            report.add(path, 1, f"'{name}' is exported without the prefix specfs_")


# ------------------------------------------------------------------ scripts


def check_shell(path, lines, report):
    if lines and lines[0].startswith('#!') and not any(s.startswith('set -eu') for s in lines[:20]):
        report.add(path, 1, "no 'set -eu' in the first twenty lines")


def check_python(path, text, lines, report):
    for number, line in enumerate(lines, 1):
        if re.match(r' *\t', line):
            report.add(path, number, 'indented with a tab, expected four spaces')
    try:
        tree = ast.parse(text)
    except SyntaxError as e:
        report.add(path, e.lineno or 1, f'no valid Python: {e.msg}')
        return
    if not path.startswith('scripts/'):
        return
    for node in ast.walk(tree):
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else \
            [node.module] if isinstance(node, ast.ImportFrom) and not node.level else []
        for name in names:
            if name.split('.')[0] not in sys.stdlib_module_names:
                report.add(path, node.lineno, f"'{name}' is not in the standard library")


# ------------------------------------------------------------------ the tree


def check_file(path, text, report):
    lines = text.split('\n')
    if lines[-1]:
        report.add(path, len(lines), 'no newline at the end of the file')
    else:
        lines.pop()
    check_top_level(path, report)
    check_paths(path, lines, report)
    if path.startswith(SAMPLES):
        return
    suffix = suffix_of(path, text)
    check_text(path, suffix, lines, report)
    check_spdx(path, suffix, lines, report)
    if suffix in ('.c', '.h'):
        check_c(path, text, lines, report)
    if suffix == '.h':
        check_header(path, lines, report)
    elif suffix == '.map':
        check_map(path, text, report)
    elif suffix == '.sh':
        check_shell(path, lines, report)
    elif suffix == '.py':
        check_python(path, text, lines, report)


def files_of(tree):
    """Paths relative to @tree, sorted: what git tracks or would add, else what is on disk."""
    git = ['git', '-c', 'safe.directory=*', '-C', tree]
    try:
        top = subprocess.run(git + ['rev-parse', '--show-toplevel'], capture_output=True, text=True)
        if top.returncode == 0 and os.path.samefile(top.stdout.strip(), tree):
            listed = subprocess.run(git + ['ls-files', '-zco', '--exclude-standard'],
                                    capture_output=True, text=True, check=True)
            return sorted(set(filter(None, listed.stdout.split('\0'))))
    except FileNotFoundError:
        pass
    found = []
    for where, dirs, names in os.walk(tree):
        rel = os.path.relpath(where, tree)
        dirs[:] = [d for d in dirs if d not in ('.git', '.cache', '__pycache__')
                   and not (rel == '.' and d.startswith('build'))]
        found += [os.path.normpath(os.path.join(rel, n)) for n in names if not n.endswith('.pyc')]
    return sorted(found)


def check_tree(tree):
    """All breaches in @tree, as a Report."""
    report = Report()
    for path in files_of(tree):
        full = os.path.join(tree, path)
        if os.path.islink(full) or not os.path.isfile(full):
            continue
        with open(full, 'rb') as f:
            data = f.read()
        if b'\0' in data or not data:
            continue
        check_file(path, data.decode('utf-8', errors='replace'), report)
    return report


def main(argv):
    if len(argv) > 2 or (len(argv) == 2 and argv[1].startswith('-')):
        print(__doc__.strip())
        return 0 if argv[1:] in (['-h'], ['--help']) else 2
    here = os.path.dirname(os.path.abspath(__file__))
    tree = argv[1] if len(argv) == 2 else os.path.dirname(here)
    if not os.path.isdir(tree):
        print(f"{argv[0]}: '{tree}' is not a directory", file=sys.stderr)
        return 2
    report = check_tree(tree)
    report.show()
    return 1 if report.lines else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv))
