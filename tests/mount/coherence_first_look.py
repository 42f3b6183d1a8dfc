# SPDX-License-Identifier: MIT
"""A directory changes underneath in the very moment in which it is first looked up.

The kernel does not know it yet when it is to be told, and then gets what was seen before.
"""
import os
import random
import threading
import time

from mounted import View, equal, main

DIRECTORIES = 2000
SPREAD_SEC = 120e-6  # about what a look-up takes


def a_change_in_the_moment_of_the_first_look_shows():
    names = [f'd{i}' for i in range(DIRECTORIES)]
    with View({f'{name}/old': '' for name in names}, use_git=False) as v:
        together = threading.Barrier(2)

        def look():
            for name in names:
                together.wait()
                os.lstat(v.path(name))

        looker = threading.Thread(target=look)
        looker.start()
        for name in names:
            together.wait()
            end = time.perf_counter() + random.uniform(0, SPREAD_SEC)
            while time.perf_counter() < end:
                pass
            os.close(os.open(os.path.join(v.root, name, 'new'), os.O_CREAT | os.O_WRONLY))
        looker.join()
        v.cli('sync', v.mnt)
        # listing it has the kernel ask for the attributes again
        stale = [n for n in names if os.lstat(v.path(n)).st_mtime_ns !=
                 os.lstat(os.path.join(v.root, n)).st_mtime_ns]
        equal(stale, [], 'directories with the times that they had')
        stale = [n for n in names if sorted(os.listdir(v.path(n))) != ['new', 'old']]
        equal(stale, [], 'directories that list what they had')


main(a_change_in_the_moment_of_the_first_look_shows)
