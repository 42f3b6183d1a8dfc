# SPDX-License-Identifier: MIT
"""The scripts explain themselves, refuse what they do not know, and install all that is needed."""
import os
import re
import subprocess
import unittest

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COMMANDS = ('test', 'demo', 'lint')

# Needed by the build and given by no package of its own.
GIVEN = {'threads', 'python3'}


def read(*path):
    with open(os.path.join(TREE, *path), encoding='utf-8') as f:
        return f.read()


def needs():
    """{(kind, name)} of the table in scripts/lib/common.sh."""
    rows = re.search(r"<<'ROWS'\n(.*?)\nROWS\n", read('scripts', 'lib', 'common.sh'), re.S).group(1)
    return {tuple(row.split()[2:4]) for row in rows.splitlines()}


def meson_files():
    for top in ('.', 'fs', 'tests', 'config', 'include'):
        for where, dirs, names in os.walk(os.path.join(TREE, top)):
            dirs[:] = [] if top == '.' else [d for d in dirs if d != 'trees']
            if 'meson.build' in names:
                yield os.path.join(where, 'meson.build')


class Scripts(unittest.TestCase):
    def run_it(self, name, *args):
        return subprocess.run(['bash', os.path.join(TREE, 'scripts', name), *args],
                              capture_output=True, text=True)

    def test_help_names_every_option(self):
        for name in COMMANDS:
            with self.subTest(script=name):
                done = self.run_it(name, '--help')
                self.assertEqual((done.returncode, done.stderr), (0, ''))
                self.assertTrue(done.stdout.startswith(f'usage: scripts/{name}'))
                options = set(re.findall(r'^\t(?:-h \| )?(--[\w-]+)\)', read('scripts', name),
                                         re.M))
                self.assertTrue(options)
                for option in options - {'--help'}:
                    self.assertIn(option, done.stdout)

    def test_an_unknown_option_is_one_line_and_two(self):
        for name in COMMANDS:
            with self.subTest(script=name):
                done = self.run_it(name, '--colour')
                self.assertEqual((done.returncode, done.stdout), (2, ''))
                self.assertRegex(done.stderr, r"\A.*unknown option '--colour'.*\n\Z")

    def test_every_dependency_of_the_build_gets_installed(self):
        installed = needs()
        for path in meson_files():
            with open(path, encoding='utf-8') as f:
                text = f.read()
            for name in re.findall(r"\bdependency\('([^']+)'", text):
                if name not in GIVEN:
                    self.assertIn(('lib', name), installed, f'{path}: dependency {name}')

    def test_ci_runs_the_test_script_and_nothing_else(self):
        lines = [line for line in read('.ci', 'run').splitlines()
                 if line and not line.startswith('#')]
        self.assertEqual(lines, ['set -eu', 'exec bash "$(dirname "$0")/../scripts/test"'])


if __name__ == '__main__':
    unittest.main()
