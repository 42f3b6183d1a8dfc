# SPDX-License-Identifier: MIT
"""scripts/demo runs to its end, and leaves nothing behind however it ends."""
import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIMIT_SEC = 240


def can_mount():
    return os.access('/dev/fuse', os.R_OK | os.W_OK)


class Demo(unittest.TestCase):
    def setUp(self):
        made = tempfile.TemporaryDirectory(prefix='specfs-demo-test-')
        self.addCleanup(made.cleanup)
        self.tmp = made.name

    def start(self):
        return subprocess.Popen(
            ['bash', os.path.join(TREE, 'scripts', 'demo'), '--no-install',
             '--specfs', os.environ['SPECFS_BIN']],
            env=dict(os.environ, TMPDIR=self.tmp), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def assert_nothing_left(self):
        with open('/proc/self/mounts', encoding='utf-8') as f:
            self.assertNotIn(self.tmp + '/', f.read())
        self.assertEqual(os.listdir(self.tmp), [])

    def test_every_step_is_shown_and_nothing_is_left(self):
        demo = self.start()
        said, _ = demo.communicate(timeout=LIMIT_SEC)
        self.assertEqual(demo.returncode, 0, said)
        shown = re.findall(r'^== (\d)\. ', said, re.M)
        self.assertEqual(shown, [str(n) for n in range(1, 9)], said)
        self.assertIn('\n== What you saw\n', said)
        self.assert_nothing_left()

    def test_interrupted_while_mounted_it_leaves_nothing(self):
        with self.start() as demo:
            for line in demo.stdout:
                if line.startswith('== 3.'):
                    break
            else:
                self.fail('step 3 was never reached')
            demo.send_signal(signal.SIGTERM)
            rest, _ = demo.communicate(timeout=LIMIT_SEC)
        self.assertEqual(demo.returncode, 130, rest)
        self.assertNotIn('== What you saw', rest)
        self.assert_nothing_left()


if __name__ == '__main__':
    if not can_mount():
        print('/dev/fuse cannot be opened')
        sys.exit(77)
    unittest.main()
