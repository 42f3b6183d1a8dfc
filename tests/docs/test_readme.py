# SPDX-License-Identifier: MIT
"""README.md names only commands, options, files and suites that exist."""
import os
import re
import subprocess
import unittest

import readme

# A word in backticks that is a place in this tree.
PLACE = re.compile(r'`((?:scripts|config|tests|fs|include)/[\w./-]*)`')


def help_of(*command):
    done = subprocess.run([*command, '--help'], capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else None


def options_in(words):
    return [w.split('=')[0] for w in words if re.match(r'--?[A-Za-z]', w)]


class Readme(unittest.TestCase):
    def check_options(self, line, words, text, what):
        self.assertIsNotNone(text, f'{line}: there is no {what}')
        for option in options_in(words):
            self.assertRegex(text, rf'(?<![\w-]){re.escape(option)}(?![\w-])',
                             f'{line}: {what} knows no {option}')

    def test_every_specfs_command_and_its_options_exist(self):
        specfs = os.environ['SPECFS_BIN']
        seen = 0
        for line in readme.commands():
            for call in re.findall(r'(?:^|[;&|] *)specfs ([a-z]+)([^;&|\n]*)', line):
                seen += 1
                words = call[1].split(' -- ')[0].split()
                self.check_options(line, words, help_of(specfs, call[0]), f'specfs {call[0]}')
        self.assertGreater(seen, 5)

    def test_every_script_and_its_options_exist(self):
        for line in readme.commands():
            for call in re.findall(r'(?:^|[;&|] *)scripts/([\w-]+)(?=\s|$)([^;&|\n]*)', line):
                script = os.path.join(readme.TREE, 'scripts', call[0])
                self.check_options(line, call[1].split(), help_of(script), f'scripts/{call[0]}')

    def test_every_file_named_exists(self):
        named = PLACE.findall(readme.text())
        self.assertTrue(named)
        for path in named:
            self.assertTrue(os.path.exists(os.path.join(readme.TREE, path)), path)

    def test_every_suite_is_in_the_table(self):
        with open(os.path.join(readme.TREE, 'scripts', 'test'), encoding='utf-8') as f:
            suites = re.search(r'^all_suites=\((.*)\)$', f.read(), re.M).group(1).split()
        table = re.findall(r'^\| `(\w+)` \|', readme.section('Tests'), re.M)
        self.assertEqual(sorted(table), sorted(suites))


class Patterns(unittest.TestCase):
    def test_dots_stand_for_anything_and_nothing_else_does(self):
        self.assertTrue(readme.pattern('a\n...\nb 1...3\n').fullmatch('a\nx\ny\nb 123\n'))
        self.assertTrue(readme.pattern('a\n...\nb\n').fullmatch('a\nb\n'))
        self.assertFalse(readme.pattern('a\nb\n').fullmatch('a\nx\nb\n'))
        self.assertFalse(readme.pattern('a.c\n').fullmatch('abc\n'))
        self.assertFalse(readme.pattern('').fullmatch('said\n'))


if __name__ == '__main__':
    unittest.main()
