# SPDX-License-Identifier: MIT
"""Child processes that run a function, and the kernel that forgets: for tests of many at once."""
import contextlib
import fcntl
import os

FORGET = '/proc/sys/vm/drop_caches'


def start(call, *args):
    """Run call(*args) in a child and return its pid.

    Its exit status is what the call returns (None is 0), 9 after an exception, which is printed.
    """
    pid = os.fork()
    if pid:
        return pid
    status = 9
    try:
        status = call(*args) or 0
    except Exception as e:
        print(f'{call.__name__}: {type(e).__name__}: {e}', flush=True)
    finally:
        os._exit(status)


def statuses(pids):
    """Wait for the children; their exit statuses, negative for a signal."""
    return [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids]


def may_forget():
    """Is it ours to let the kernel forget what it has cached?"""
    return os.access(FORGET, os.W_OK)


def forget(what='2', wait=True):
    """Let it forget names and inodes ('2'), pages ('1') or both ('3'), if it is ours to ask.

    Those of all file systems go. While another test is undisturbed() this waits, or does nothing.
    """
    if not may_forget():
        return
    with open(FORGET, 'w', encoding='utf-8') as f:
        try:
            fcntl.flock(f, fcntl.LOCK_SH | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            return
        f.write(what)


@contextlib.contextmanager
def undisturbed():
    """No other test lets the kernel forget anything meanwhile: for what is counted or measured.

    Others wait for the end, and whoever calls forget() in it would do so for ever.
    """
    if not may_forget():  # nor is it other tests', then
        yield
        return
    with open(FORGET, 'w', encoding='utf-8') as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(f, fcntl.LOCK_UN)  # a child that was begun meanwhile has the file, too
