# SPDX-License-Identifier: MIT
"""A request that takes its time holds up no other one.

A layer of one view lies in another view, whose daemon is stopped: what has to be read from there
waits, in the first one's daemon.
"""
import json
import os
import shutil
import signal
import threading
import time

from checks import stop
from mounted import View, equal, main, read_file, true, wait_for, write_file

FILES = 6  # fewer than threads
QUICK_SEC = 30  # of what must not wait for the others, which wait longer
LIMIT_SEC = 120


def waiting_readers(v):
    """Start to read each file; returns the threads and what they will have read."""
    got = {}

    def read(name):
        got[name] = read_file(v.path(name))

    readers = [threading.Thread(target=read, args=(f'file-{i}', )) for i in range(FILES)]
    for reader in readers:
        reader.start()
    return readers, got


def waits(thread):
    """Where in the kernel it waits."""
    with open(f'/proc/self/task/{thread.native_id}/wchan', encoding='ascii') as f:
        return f.read()


def others_are_served():
    tree = {f'file-{i}': f'{i}\n' * 1000 for i in range(FILES)}
    with View(tree, use_git=False) as below:
        with View({'own/old': ''}, opts=['-l', below.mnt], use_git=False) as v:
            # made anew it is scratch's alone: nothing in it is looked for in a layer, whatever the
            # kernel has dropped meanwhile
            shutil.rmtree(v.path('own'))
            os.mkdir(v.path('own'))
            v.write('own/here', 'yes')
            for i in range(FILES):
                os.stat(v.path(f'file-{i}'))
            true(json.loads(v.read('.specfs/status'))['threads'] > FILES, 'there are more threads')
            stop(below.daemon.pid)
            end = threading.Timer(LIMIT_SEC, below.daemon.send_signal, [signal.SIGCONT])
            end.start()
            try:
                readers, got = waiting_readers(v)
                start = time.monotonic()
                for i in range(50):
                    v.write(f'own/new-{i}', str(i))
                    equal(v.read(f'own/new-{i}'), str(i).encode(), 'a file made meanwhile')
                took = time.monotonic() - start
                equal(got, {}, 'files read from a daemon that stands still')
                true(took < QUICK_SEC, f'others waited {took:.1f} s')
            finally:
                end.cancel()
                below.daemon.send_signal(signal.SIGCONT)
            for reader in readers:
                reader.join()
            equal(got, {k: x.encode() for k, x in tree.items()}, 'what was read')


def a_slow_look_up_holds_up_no_other_one():
    """In one directory: what scratch has is found there, however long a layer takes for a name."""
    with View({'d/old': ''}, use_git=False) as below:
        with View({'own/old': ''}, opts=['-l', below.mnt], use_git=False) as v:
            v.write('d/mine', 'yes')
            write_file(f'{v.scratch}/upper/d/new', 'new')  # the kernel has not asked for it yet
            stop(below.daemon.pid)
            end = threading.Timer(LIMIT_SEC, below.daemon.send_signal, [signal.SIGCONT])
            end.start()
            try:
                slow = threading.Thread(target=os.path.exists, args=(v.path('d/none'), ))
                slow.start()
                wait_for(lambda: 'request_wait_answer' in waits(slow), 'the look-up that waits')
                start = time.monotonic()
                equal(os.path.exists(v.path('d/new')), True, 'a name that scratch has')
                took = time.monotonic() - start
                true(took < QUICK_SEC, f'it waited {took:.1f} s')
                true(slow.is_alive(), 'the other one waits')
            finally:
                end.cancel()
                below.daemon.send_signal(signal.SIGCONT)
            slow.join()


def one_thread_will_do():
    with View({'a': 'x'}, opts=['-o', 'max_threads=1']) as v:
        equal(json.loads(v.read('.specfs/status'))['threads'], 1, 'threads')
        for i in range(100):
            v.write(f'f{i}', 'y')
        equal(v.read('f99'), b'y', 'what was written')


def it_wakes_after_a_rest():
    with View({'a': 'x'}) as v:
        for i in range(3):
            time.sleep(0.3)  # longer than anybody looks for work
            v.write(f'f{i}', 'y')
            equal(v.read(f'f{i}'), b'y', 'what was written')


def cpu_ticks(pid):
    with open(f'/proc/{pid}/stat', encoding='ascii') as f:
        fields = f.read().rpartition(')')[2].split()
    return int(fields[11]) + int(fields[12])


def burst(v, client):
    """Quick requests, one after the other; every name is another one."""
    for i in range(1000):
        os.path.exists(v.path(f'none-{client}-{i}'))


def it_sleeps_at_rest(clients):
    """After many quick requests, for which it waited awake, the daemon takes no time any more."""
    with View({'a': 'x'}) as v:
        threads = [threading.Thread(target=burst, args=(v, i)) for i in range(clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        deadline = time.monotonic() + LIMIT_SEC
        while True:
            before = cpu_ticks(v.daemon.pid)
            time.sleep(0.5)
            took = cpu_ticks(v.daemon.pid) - before
            if took <= 2:  # of 50
                break
            true(time.monotonic() < deadline, f'{took} ticks of half a second at rest')


def it_sleeps_after_one_client():
    it_sleeps_at_rest(1)


def it_sleeps_after_many_clients():
    it_sleeps_at_rest(8)


def descriptors(pid):
    return len(os.listdir(f'/proc/{pid}/fd'))


def at_rest(pid):
    """Its descriptors, once what mounting has opened is closed."""
    seen = [descriptors(pid)]
    while len(seen) < 5 or len(set(seen[-5:])) > 1:
        time.sleep(0.1)
        seen.append(descriptors(pid))
    return seen[-1]


def it_keeps_no_directory_open_at_rest():
    with View({'lib/a': 'x', 'lib/sub/b': 'y'}) as v:
        before = at_rest(v.daemon.pid)
        most = before
        for i in range(300):
            true(not os.path.exists(v.path(f'lib/sub/none-{i}')), 'a name that is not there')
            most = max(most, descriptors(v.daemon.pid))
        true(most > before, 'the last one is kept for the next request')
        wait_for(lambda: descriptors(v.daemon.pid) <= before, 'nothing is open any more')


main(others_are_served, a_slow_look_up_holds_up_no_other_one, one_thread_will_do,
     it_wakes_after_a_rest, it_sleeps_after_one_client, it_sleeps_after_many_clients,
     it_keeps_no_directory_open_at_rest)
