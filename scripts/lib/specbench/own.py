# SPDX-License-Identifier: MIT
"""Peers of which only the command that mounts them is known: --peer NAME=COMMAND.

Each has directories of its own, so that one which believes what it has cached is not deceived by
what is written into another.
"""
import argparse
import collections
import os
import re
import signal
import subprocess
import time

from .mounts import ANSWER_SEC, PEERS, FileSystem
from .place import Failure, is_mounted, note, run, unmount

PLACES = '''In COMMAND, {mountpoint} is where to mount; {lower} a copy of the tree for this one
alone, which may be written to; {trunk} and {over} the layers that all share and none may change,
{over} over {trunk}; {upper} and {work} empty directories. COMMAND may end once it has mounted, or
serve until it is unmounted.'''
WORDS = ('mountpoint', 'lower', 'trunk', 'over', 'upper', 'work')
NAME = re.compile(r'[A-Za-z0-9][A-Za-z0-9._+-]{0,13}')
PLACE = re.compile(r'(?<!\$)\{(\w+)\}')  # not the ${...} of the shell
END_SEC = 30

Peer = collections.namedtuple('Peer', 'name command')


def peer(word):
    """NAME=COMMAND of the command line."""
    name, equals, command = word.partition('=')
    taken = ['native', 'specfs'] + [p[0] for p in PEERS]
    if not equals or not NAME.fullmatch(name) or not command.strip():
        raise argparse.ArgumentTypeError(
            f"'{word}': expected NAME=COMMAND, the name of 1 to 14 letters, digits and . _ + -")
    if name in taken:
        raise argparse.ArgumentTypeError(f"'{name}': expected another name than {' '.join(taken)}")
    asked = PLACE.findall(command)
    for place in asked:
        if place not in WORDS:
            raise argparse.ArgumentTypeError(
                f"'{name}': no place {{{place}}}, expected some of "
                + ' '.join(f'{{{w}}}' for w in WORDS))
    if 'mountpoint' not in asked:
        raise argparse.ArgumentTypeError(f"'{name}': expected {{mountpoint}} in the command")
    return Peer(name, command)


class OwnPeer(FileSystem):
    """One of them; it has its directories once it is made, and shows them when mounted."""

    def __init__(self, given, work, env):
        where = os.path.join(work, 'own', given.name)
        super().__init__(given.name, os.path.join(where, 'mountpoint'))
        self.env, self.log, self.process = env, os.path.join(where, 'said'), None
        asked = set(PLACE.findall(given.command))
        places = {word: os.path.join(where, word) for word in WORDS}
        places.update(trunk=os.path.join(work, 'checkout'), over=os.path.join(work, 'over'))
        for word in ('mountpoint', 'upper', 'work'):
            os.makedirs(places[word])
        self.lower = places['lower'] if 'lower' in asked else None
        if self.lower:
            run(['cp', '-a', os.path.join(work, 'native'), self.lower])
            run(['git', '-C', self.lower, 'status'])  # its index learns the times of the files
        self.command = PLACE.sub(lambda found: places[found.group(1)], given.command)

    def path_below(self, rel):
        return os.path.join(self.lower, rel)

    def mount(self, undo):
        undo.callback(self.end)
        undo.callback(unmount, self.top)
        with open(self.log, 'wb') as said:  # a daemon may keep it open
            self.process = subprocess.Popen(['sh', '-c', self.command], stdin=subprocess.DEVNULL,
                                            stdout=said, stderr=said, env=self.env,
                                            start_new_session=True)
        end = time.monotonic() + ANSWER_SEC
        while not is_mounted(self.top):
            if self.process.poll():
                raise Failure(f'{self.name}: the command failed with {self.process.returncode}: '
                              + self.last_words())
            if time.monotonic() > end:
                raise Failure(f'{self.name}: no mount after {ANSWER_SEC} s: {self.last_words()}')
            time.sleep(0.01)

    def last_words(self):
        with open(self.log, encoding='utf-8', errors='replace') as f:
            lines = f.read().strip().splitlines()
        return lines[-1] if lines else 'nothing was said'

    def end(self):
        """Of a command that serves; what was mounted is unmounted."""
        if not self.process:
            return
        try:
            self.process.wait(END_SEC)
        except subprocess.TimeoutExpired:
            note(f'{self.name}: still there {END_SEC} s after it was unmounted, ended by force')
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
