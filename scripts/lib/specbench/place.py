# SPDX-License-Identifier: MIT
"""The directory that a measurement lives in: made, and gone at the end, whatever ends it."""
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile


class Failure(Exception):
    """What ends the program with one line."""


def note(line):
    print(f'bench: {line}', file=sys.stderr, flush=True)


def run(argv, **more):
    """Run to the end; a failure tells what was said last."""
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors='replace', check=False,
                              **more)
    except OSError as e:
        raise Failure(f"cannot run '{argv[0]}': {e.strerror}") from None
    if done.returncode:
        said = done.stdout.strip().splitlines() or ['nothing was said']
        raise Failure(f"'{' '.join(argv)}' failed with {done.returncode}: {said[-1]}")
    return done.stdout


def type_of(path):
    """The type of the file system that @path is on."""
    return run(['stat', '-f', '-c', '%T', path]).strip()


def is_mounted(path):
    with open('/proc/self/mountinfo', encoding='utf-8', errors='surrogateescape') as f:
        return any(line.split(' ')[4] == path for line in f)


def unmount(path):
    """Take down all that is mounted at @path, at last by force."""
    for argv in (['umount', path], ['fusermount3', '-u', path], ['umount', '-l', path],
                 ['fusermount3', '-u', '-z', path]):
        if not is_mounted(path):
            return
        if shutil.which(argv[0]):
            subprocess.run(argv, stderr=subprocess.DEVNULL, check=False)
    if is_mounted(path):
        note(f"'{path}' is still mounted")


def unmount_below(top):
    """What a workload or a daemon has left mounted, innermost first."""
    with open('/proc/self/mountinfo', encoding='utf-8', errors='surrogateescape') as f:
        left = [line.split(' ')[4] for line in f]
    for path in reversed(left):
        if path.startswith(top + '/'):
            unmount(path)


SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def ended(number, _frame):
    for each in SIGNALS:  # cleaning up is not to be broken off
        signal.signal(each, signal.SIG_IGN)
    raise SystemExit(128 + number)


def image(top, gib, inodes, undo):
    """Mount a fresh ext4 with a journal below @top; None where that can't be done."""
    path, at = os.path.join(top, 'image'), os.path.join(top, 'ext4')
    os.mkdir(at)
    with open(path, 'wb') as f:
        f.truncate(gib << 30)
    try:
        run(['mkfs.ext4', '-q', '-F', '-E', 'lazy_itable_init=1', '-N', str(inodes), path])
        # without the host's cache in between: cold is cold
        loop = run(['losetup', '--find', '--show', '--direct-io=on', path]).strip()
        undo.callback(subprocess.run, ['losetup', '-d', loop], check=False)
        run(['mount', '-o', 'noatime', loop, at])
        undo.callback(unmount, at)
    except Failure as e:
        note(f'no journalled image, measuring on what there is: {e}')
        return None
    return at


@contextlib.contextmanager
def place(given, gib, inodes):
    """A directory to work in; @given: where to make it, None: a journalled image if possible."""
    for number in SIGNALS:
        signal.signal(number, ended)
    if given and not os.path.isdir(given):
        raise Failure(f"--dir '{given}' is not a directory")
    top = os.path.realpath(tempfile.mkdtemp(prefix='specfs-bench-', dir=given))
    with contextlib.ExitStack() as undo:
        undo.callback(shutil.rmtree, top, ignore_errors=True)
        at = image(top, gib, inodes, undo) if not given and os.geteuid() == 0 else None
        at = at or top
        undo.callback(unmount_below, at)
        # 'ext2/ext3' is how stat names ext4
        if not type_of(at).startswith('ext'):
            note(f"'{at}' is {type_of(at)}, not ext4: the targets are ratios to ext4")
        yield at
