# SPDX-License-Identifier: MIT
"""Hold up whoever opens a directory, so that a request or a message waits for as long as a test
wants; and children that do what may wait, since a test itself must never hang.
"""
import ctypes
import os
import select
import signal
import struct
import time

from checks import Skip

FAN_CLASS_CONTENT, FAN_CLOEXEC, FAN_NONBLOCK = 0x4, 0x1, 0x2
FAN_MARK_ADD, FAN_OPEN_PERM, FAN_ONDIR = 0x1, 0x10000, 0x40000000
FAN_ALLOW, AT_FDCWD = 1, -100
EVENT = struct.Struct('IBBHQii')


class Held:
    """`with Held(directory) as h`: opening it (not O_PATH) waits until the end."""

    def __init__(self, path):
        self.path, self.fds = path, []

    def __enter__(self):
        libc = ctypes.CDLL(None, use_errno=True)
        self.fan = libc.fanotify_init(FAN_CLASS_CONTENT | FAN_CLOEXEC | FAN_NONBLOCK, os.O_RDONLY)
        if self.fan < 0:
            raise Skip(f'opening cannot be held up: {os.strerror(ctypes.get_errno())}')
        if libc.fanotify_mark(self.fan, FAN_MARK_ADD, ctypes.c_uint64(FAN_OPEN_PERM | FAN_ONDIR),
                              AT_FDCWD, os.fsencode(self.path)) < 0:
            os.close(self.fan)
            raise Skip(f'opening cannot be held up: {os.strerror(ctypes.get_errno())}')
        return self

    def wait(self, limit_sec=60):
        """Return once somebody waits."""
        if not select.select([self.fan], [], [], limit_sec)[0]:
            raise AssertionError(f'nobody opens {self.path} within {limit_sec} s')
        fd = EVENT.unpack_from(os.read(self.fan, 4096))[5]
        self.fds.append(fd)

    def __exit__(self, *failure):
        for fd in self.fds:
            os.write(self.fan, struct.pack('ii', fd, FAN_ALLOW))
            os.close(fd)
        os.close(self.fan)
        return False


class Child:
    """A process that runs `call`; its exit status says whether that raised nothing (0), an OSError
    (1) or something else (2)."""

    def __init__(self, name, call):
        self.name = name
        self.pid = os.fork()
        if self.pid:
            return
        status = 2
        try:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            call()
            status = 0
        except OSError as e:
            print(f'{name}: {e}', flush=True)
            status = 1
        except Exception as e:
            print(f'{name}: {type(e).__name__}: {e}', flush=True)
        finally:
            os._exit(status)

    def wait(self, limit_sec):
        """Its exit status; None while it still runs after the limit."""
        end = time.monotonic() + limit_sec
        while True:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
            if time.monotonic() > end:
                return None
            time.sleep(0.01)

    def kill(self):
        os.kill(self.pid, signal.SIGKILL)


def stacks(pid):
    """Where every thread of a process waits in the kernel, as far as we may see."""
    lines = []
    try:
        tasks = sorted(os.listdir(f'/proc/{pid}/task'))
    except OSError as e:
        return f'{pid}: {e}\n'
    for task in tasks:
        at = f'/proc/{pid}/task/{task}'
        lines.append(f'{pid}/{task}')
        for name in ('comm', 'wchan', 'stack'):
            try:
                with open(f'{at}/{name}', encoding='utf-8', errors='replace') as f:
                    lines += [f'    {text}' for text in f.read().splitlines()]
            except OSError as e:
                lines.append(f'    {name}: {e.strerror}')
    return '\n'.join(lines) + '\n'
