# SPDX-License-Identifier: MIT
"""Direct writes that nobody waits for (io_submit), beside readers of the page cache: when one has
ended, every read shows it."""
import ctypes
import mmap
import os
import platform
import struct
import threading
import time

from mounted import Skip, View, equal, main, true

# of the kernel's table for x86_64: asm/unistd_64.h
IO_SETUP, IO_DESTROY, IO_GETEVENTS, IO_SUBMIT = 206, 207, 208, 209
IOCB_CMD_PWRITE = 1
SIZE = 640 << 10
SECONDS = 6


class Writer:
    """One io_submit at a time, waited for."""
    def __init__(self, path):
        if platform.machine() != 'x86_64':
            raise Skip('the numbers of the system calls are those of x86_64')
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.context = ctypes.c_ulong(0)
        self.call(IO_SETUP, 1, ctypes.byref(self.context))
        self.fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_DIRECT)
        self.buf = mmap.mmap(-1, SIZE)
        self.at = ctypes.addressof(ctypes.c_char.from_buffer(self.buf))

    def call(self, *words):
        got = self.libc.syscall(*words)
        true(got >= 0, f'system call {words[0]}: {os.strerror(ctypes.get_errno())}')
        return got

    def write(self, byte):
        ctypes.memset(self.at, byte, SIZE)
        # struct iocb: data, key, rw_flags, opcode, prio, fd, buf, nbytes, offset, ...
        cb = ctypes.create_string_buffer(
            struct.pack('<QIIHhIQQqQII', 0, 0, 0, IOCB_CMD_PWRITE, 0, self.fd, self.at, SIZE, 0, 0,
                        0, 0))
        todo = (ctypes.c_void_p * 1)(ctypes.addressof(cb))
        event = ctypes.create_string_buffer(32)
        equal(self.call(IO_SUBMIT, self.context, ctypes.c_long(1), todo), 1, 'submitted')
        equal(self.call(IO_GETEVENTS, self.context, ctypes.c_long(1), ctypes.c_long(1), event,
                        None), 1, 'ended')
        equal(struct.unpack('<QQqq', event.raw)[2], SIZE, 'bytes written')

    def close(self):
        self.call(IO_DESTROY, self.context)
        os.close(self.fd)


def read_ends(path):
    """The first byte of each page."""
    with open(path, 'rb') as f:
        return set(f.read()[::mmap.PAGESIZE])


def a_write_that_has_ended_is_read():
    with View({'a': 'x'}) as v:
        path = v.path('a')
        w, done = Writer(path), threading.Event()

        def look():
            while not done.is_set():
                read_ends(path)

        readers = [threading.Thread(target=look) for _ in range(2)]
        for r in readers:
            r.start()
        end, n = time.monotonic() + SECONDS, 0
        try:
            while time.monotonic() < end:
                n += 1
                w.write(n % 255)
                equal(read_ends(path), {n % 255}, f'what is read after write {n}')
        finally:
            done.set()
            for r in readers:
                r.join()
            w.close()


main(a_write_that_has_ended_is_read)
