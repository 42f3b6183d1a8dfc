# SPDX-License-Identifier: MIT
"""scripts/test tells the truth: counts, exit status, closing line; on small projects of its own."""
import importlib.util
import json
import os
import shutil
import subprocess
import tempfile
import unittest

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

spec = importlib.util.spec_from_file_location('summary', os.path.join(
    TREE, 'scripts', 'lib', 'summary.py'))
summary = importlib.util.module_from_spec(spec)
spec.loader.exec_module(summary)

PASSES = "test('passes', find_program('true'), suite: 'docs')\n"
FAILS = "test('fails', find_program('sh'), args: ['-c', 'echo reason; exit 3'], suite: 'docs')\n"
SKIPS = "test('skips', find_program('sh'), args: ['-c', 'echo no fuse; exit 77'], suite: 'docs')\n"
OTHER = "test('other', find_program('false'), suite: 'unit')\n"
BREAKS = """custom_target('breaks', output: 'x', command: [find_program('false')],
  build_by_default: true)
"""


class Project(unittest.TestCase):
    def setUp(self):
        self.tmp = tempfile.TemporaryDirectory()
        self.addCleanup(self.tmp.cleanup)
        shutil.copytree(os.path.join(TREE, 'scripts'), os.path.join(self.tmp.name, 'scripts'))

    def run_it(self, text, *args):
        """Run the suite docs of a project with these lines; returns (status, lines of stdout)."""
        with open(os.path.join(self.tmp.name, 'meson.build'), 'w', encoding='utf-8') as f:
            f.write("project('small', meson_version: '>= 0.61')\n" + text)
        env = dict(os.environ, SPECFS_BUILD=os.path.join(self.tmp.name, 'b'))
        done = subprocess.run(
            ['bash', os.path.join(self.tmp.name, 'scripts', 'test'), '--no-install', *args],
            capture_output=True, text=True, env=env)
        if done.returncode == 2 and 'missing:' in done.stderr:
            self.skipTest(done.stderr.strip())
        self.assertEqual(done.stderr.strip(), '')
        return done.returncode, done.stdout.strip().splitlines()

    def test_all_pass(self):
        status, lines = self.run_it(PASSES + OTHER, '--suite', 'docs')
        self.assertEqual((status, lines[-1]), (0, '1 passed, 0 failed'))

    def test_one_fails_and_its_output_is_shown(self):
        status, lines = self.run_it(PASSES + FAILS + SKIPS, '--suite', 'docs')
        self.assertEqual((status, lines[-1]), (1, '1 passed, 1 failed, 1 skipped'))
        self.assertIn('    reason', lines)
        self.assertIn('skipped: skips (gcc): no fuse', lines)

    def test_a_broken_build_has_failed(self):
        status, lines = self.run_it(PASSES + BREAKS, '--suite', 'docs')
        self.assertEqual((status, lines[-1]), (1, '0 passed, 1 failed'))

    def test_a_broken_configuration_has_failed_also_the_second_time(self):
        for _ in range(2):
            status, lines = self.run_it('this is no meson\n', '--suite', 'docs')
            self.assertEqual((status, lines[-1]), (1, '0 passed, 1 failed'))
        status, lines = self.run_it(PASSES, '--suite', 'docs')
        self.assertEqual((status, lines[-1]), (0, '1 passed, 0 failed'))

    def test_no_test_at_all_has_failed(self):
        status, lines = self.run_it(OTHER, '--suite', 'docs')
        self.assertEqual((status, lines[-1]), (1, '0 passed, 1 failed'))

    def test_a_wrong_option_is_one_line(self):
        done = subprocess.run(['bash', os.path.join(TREE, 'scripts', 'test'), '--suite', 'nix'],
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (2, ''))
        self.assertEqual(len(done.stderr.splitlines()), 1)


class Collect(unittest.TestCase):
    def setUp(self):
        self.tmp = tempfile.TemporaryDirectory()
        self.addCleanup(self.tmp.cleanup)
        self.results = os.path.join(self.tmp.name, 'results')
        os.mkdir(os.path.join(self.tmp.name, 'meson-logs'))

    def collect(self, known, log, status=0):
        with open(os.path.join(self.tmp.name, 'tests.json'), 'w', encoding='utf-8') as f:
            json.dump([{'name': n, 'suite': ['p:' + s]} for n, s in known], f)
        with open(os.path.join(self.tmp.name, 'meson-logs', 'testlog.json'), 'w',
                  encoding='utf-8') as f:
            f.write(log)
        summary.collect(self.results, 'gcc', status, self.tmp.name, ['unit'])
        return [(e['name'], e['result']) for e in summary.read_json_lines(self.results)]

    def test_a_test_without_result_has_failed(self):
        ran = json.dumps({'name': 'p:unit / a', 'result': 'OK'})
        self.assertEqual(
            self.collect([('a', 'unit'), ('b', 'unit'), ('c', 'mount')], ran + '\n{"name": "b'),
            [('p:unit / a (gcc)', 'OK'), ('b (gcc)', 'FAIL')])

    def test_a_failing_runner_without_failing_test_has_failed(self):
        ran = json.dumps({'name': 'a', 'result': 'OK'}) + '\n'
        self.assertEqual(self.collect([('a', 'unit')], ran, status=2),
                         [('a (gcc)', 'OK'), ('meson test (gcc)', 'FAIL')])


if __name__ == '__main__':
    unittest.main()
