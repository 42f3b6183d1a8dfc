# SPDX-License-Identifier: MIT
"""Sizes that others change while the view's root is locked by who waits for them, as link(2) does:
the new name's directory is locked when the kernel asks for the attributes of the file."""
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from children import forget  # noqa: E402
from mounted import View, equal, main, read_file, true, write_file  # noqa: E402

ROUNDS = 5
LINK_SEC = 2.0
SOON_SEC = 60.0  # many times what a link takes, that of a busy machine too

# in a process that can be given up: one that waits for ever cannot be killed
LINKER = '''
import os, sys, time
at, end, n = sys.argv[1], time.monotonic() + float(sys.argv[2]), 0
while time.monotonic() < end:
    os.link(at + '/log', f'{at}/log-{n % 2}')
    os.unlink(f'{at}/log-{n % 2}')
    n += 1
print(n)
'''


def end(v, p):
    """Wait for it; what hangs is cut off from the view, else nothing would end it."""
    try:
        return p.communicate(timeout=SOON_SEC)[0]
    except subprocess.TimeoutExpired:
        subprocess.run(['umount', '-f', v.mnt], stderr=subprocess.DEVNULL, check=False)
        p.kill()
        p.wait()
        raise AssertionError(f'link(2) has not returned after {SOON_SEC:.0f} s') from None


def links_in_the_root_go_on_while_a_file_grows():
    for _ in range(ROUNDS):  # only in a new view nobody knows .specfs, if not all may be forgotten
        with View({'log': 'x' * 5000}, use_git=False) as v:
            os.stat(v.path('log'))
            p = subprocess.Popen([sys.executable, '-c', LINKER, v.mnt, str(LINK_SEC)],
                                 stdout=subprocess.PIPE)
            for i in range(int(LINK_SEC / 0.005)):
                with open(f'{v.root}/log', 'ab') as f:
                    f.write(b'y' * (1 + i * 37 % 5000))
                if not i % 40:
                    forget(wait=False)
                if p.poll() is not None:
                    break
                time.sleep(0.004)
            true(int(end(v, p)) > 0, 'it makes links')
            equal(p.returncode, 0, 'its exit status')
            write_file(f'{v.root}/log', 'the end')
            v.cli('sync', v.mnt)
            equal(v.read('log'), read_file(f'{v.root}/log'), 'the file afterwards')
            equal(os.stat(v.path('log')).st_size, 7, 'its size')


main(links_in_the_root_go_on_while_a_file_grows)
