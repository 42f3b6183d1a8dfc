# SPDX-License-Identifier: MIT
"""scripts/check-style.py: for each rule a text that keeps it and one that breaks it."""
import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCRIPT = os.path.join(TREE, 'scripts', 'check-style.py')
SPDX_C = '/* SPDX-License-Identifier: MIT */\n'
SPDX_SH = '# SPDX-License-Identifier: MIT\n'

spec = importlib.util.spec_from_file_location('check_style', SCRIPT)
style = importlib.util.module_from_spec(spec)
spec.loader.exec_module(style)

# Words that the checker would find in this file too.
UNDONE = 'TO' + 'DO'
HOME = '/ho' + 'me/someone/tree'
REGISTRY = 'deb.' + 'debian.org'

GOOD = [
    ('fs/layer/stack.c', SPDX_C + '#include "layer/stack.h"\n\n#include "base/fd.h"\n'
     '#include "layout/rule.h"\n\n#include <errno.h>\n'),
    ('fs/ops/op_dir.c', SPDX_C + '#include <fuse_lowlevel.h>\n#include "node/node.h"\n'),
    ('fs/check/lint.c', SPDX_C + '#include "layer/stack.h"\n'),
    ('fs/cli/cmd.c', SPDX_C + '#include "check/lint.h"\n#include "specfs/version.h"\n'),
    ('fs/python/module.c', SPDX_C + '#include "hooks/registry.h"\n#include <Python.h>\n'),
    ('fs/base/a.c', SPDX_C + '/* goto the next */\nconst char *s = "goto";\n'),
    ('fs/base/b.c', SPDX_C + 'int f(int a,\n      int b);\n'.replace('      ', '\t')),
    ('fs/base/a.h', SPDX_C + '/** f_x - does it */\nint f_x(void);\nint f_y(void);\n'),
    ('fs/base/a.h', SPDX_C + 'void thing_free(struct thing *t);\n'),
    ('include/specfs/a.h', SPDX_C + '#define SPECFS_A 1\n\n/** specfs_f - f */\n'
     'int specfs_f(void);\n'),
    ('fs/hooks/hooks.map', SPDX_C + 'V {\nglobal:\n\tspecfs_f;\nlocal:\n\t*;\n};\n'),
    ('scripts/x', '#!/bin/bash\n' + SPDX_SH + 'set -eu\n'),
    ('scripts/x.py', SPDX_SH + 'import os.path\nfrom . import y\n'),
    ('tests/mount/x.py', SPDX_SH + 'import mounted\n'),
    ('README.md', 'a line that is wider than others ' * 9 + 'end\n'),
    ('tests/trees/t/a.c', 'int a;      \n    goto x;\n'),
    ('.gitignore', '/build*/\n'),
]

BAD = [
    ('fs/base/a.c', SPDX_C + '#include "layer/stack.h"\n', 'fs/base includes from layer'),
    ('fs/layer/a.c', SPDX_C + '#include "node/node.h"\n', 'fs/layer includes from node'),
    ('fs/check/a.c', SPDX_C + '#include "cli/report.h"\n', 'fs/check includes from cli'),
    ('fs/hooks/a.c', SPDX_C + '#include "config/ini.h"\n', 'fs/hooks includes from config'),
    ('fs/layer/a.c', SPDX_C + '#include "hooks/registry.h"\n', 'fs/layer includes from hooks'),
    ('fs/more/a.c', SPDX_C + '#include "base/fd.h"\n', 'fs/more has no place'),
    ('fs/base/a.c', SPDX_C + '#include "fd.h"\n', 'write "folder/header.h"'),
    ('fs/base/a.c', SPDX_C + '#include "../base/fd.h"\n', 'write "folder/header.h"'),
    ('fs/node/a.c', SPDX_C + '#include <fuse_lowlevel.h>\n', 'outside fs/ops and fs/daemon'),
    ('fs/cli/a.c', SPDX_C + '#include <fuse3/fuse.h>\n', 'outside fs/ops and fs/daemon'),
    ('tests/unit/a.c', SPDX_C + '# include <fuse.h>\n', 'outside fs/ops and fs/daemon'),
    ('fs/base/a.c', SPDX_C + 'int a;\n' * 599, '600 lines'),
    ('fs/base/a.c', SPDX_C + '\t\t' + 'x' * 85 + ';\n', '102 columns'),
    ('fs/base/a.c', SPDX_C + 'int a; \n', 'blanks at the end'),
    ('fs/base/a.c', SPDX_C + 'int a;', 'no newline at the end'),
    ('fs/base/a.c', 'int a;\n', 'no SPDX'),
    ('fs/meson.build', "subdir('x')\n", 'no SPDX'),
    ('fs/man/specfs.1', '.TH specfs 1\n', 'no SPDX'),
    ('config/x.ini', '[profile]\n', 'no SPDX'),
    ('fs/base/a.c', SPDX_C + '\tgoto out;\n', 'goto'),
    ('fs/base/a.c', SPDX_C + 'typedef struct a a_t;\n', 'typedef'),
    ('fs/base/a.c', SPDX_C + 'int f(void)\n{\n    return 0;\n}\n', 'indented with spaces'),
    ('fs/base/a.c', SPDX_C + '\t        int a;\n', 'indented with spaces'),
    ('fs/base/a.c', SPDX_C + '/* ' + UNDONE + ' later */\n', 'an open end'),
    ('fs/base/a.h', SPDX_C + '\nint f_x(void);\n', 'f_x() has no comment'),
    ('fs/base/a.h', SPDX_C + '/** f - f */\nint f(void);\n\nstatic inline bool f_x(int a)\n{\n}\n',
     'f_x() has no comment'),
    ('include/specfs/a.h', SPDX_C + '/** f - f */\nint f(void);\n', 'without the prefix'),
    ('include/specfs/a.h', SPDX_C + '#define LIMIT 3\n', 'without the prefix'),
    ('include/specfs/a.h', SPDX_C + 'struct node {\n', 'without the prefix'),
    ('fs/hooks/hooks.map', SPDX_C + 'V {\nglobal:\n\tlog_open;\nlocal:\n\t*;\n};\n', 'log_open'),
    ('scripts/x', '#!/bin/bash\n' + SPDX_SH + 'set -e\n', "no 'set -eu'"),
    ('scripts/x.py', SPDX_SH + 'import yaml\n', "'yaml' is not in the standard library"),
    ('tests/cli/x.py', SPDX_SH + 'if x:\n\ty()\n', 'indented with a tab'),
    ('tests/cli/x.py', SPDX_SH + 'if x\n', 'no valid Python'),
    ('notes.txt', SPDX_SH, 'does not belong at the top'),
    ('src/a.c', SPDX_C, 'does not belong at the top'),
    ('README.md', 'see ' + HOME + '\n', "somebody's machine"),
    ('tests/trees/t/a.py', 'x = "' + HOME + '"\n', "somebody's machine"),
    ('scripts/x.py', SPDX_SH + '# from ' + REGISTRY + '\n', 'host name'),
]


def breaches(path, text):
    report = style.Report()
    style.check_file(path, text, report)
    return [f'{where}:{line}: {what}' for where, line, what in report.lines]


class Rules(unittest.TestCase):
    def test_what_keeps_the_rules_is_not_mentioned(self):
        for path, text in GOOD:
            with self.subTest(path=path, text=text):
                self.assertEqual(breaches(path, text), [])

    def test_what_breaks_a_rule_is_told_once_with_its_reason(self):
        for path, text, expected in BAD:
            with self.subTest(path=path, text=text):
                found = breaches(path, text)
                self.assertEqual(len(found), 1, found)
                self.assertIn(expected, found[0])

    def test_the_line_is_the_right_one_after_a_long_comment(self):
        text = SPDX_C + '/* one\n * two\n */\n\tgoto out;\n'
        self.assertEqual(breaches('fs/base/a.c', text)[0].split(':')[:2], ['fs/base/a.c', '5'])


class Command(unittest.TestCase):
    def setUp(self):
        self.tmp = tempfile.TemporaryDirectory()
        self.addCleanup(self.tmp.cleanup)

    def write(self, path, text):
        full = os.path.join(self.tmp.name, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, 'w', encoding='utf-8') as f:
            f.write(text)

    def run_it(self, *args):
        return subprocess.run([sys.executable, SCRIPT, *args], capture_output=True, text=True)

    def test_a_clean_tree_is_silent(self):
        self.write('fs/base/a.c', SPDX_C + 'int a;\n')
        self.write('build/junk.c', 'int  a; \n')
        done = self.run_it(self.tmp.name)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, '', ''))

    def test_a_breach_is_printed_and_gives_one(self):
        self.write('fs/base/a.c', SPDX_C + '\tgoto out;\n')
        done = self.run_it(self.tmp.name)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r'^fs/base/a\.c:2: goto')

    def test_bad_arguments_give_two(self):
        self.assertEqual(self.run_it('--colour').returncode, 2)
        self.assertEqual(self.run_it(os.path.join(self.tmp.name, 'absent')).returncode, 2)


if __name__ == '__main__':
    unittest.main()
