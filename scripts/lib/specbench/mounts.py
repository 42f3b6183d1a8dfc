# SPDX-License-Identifier: MIT
"""What is measured side by side: ext4 itself, specfs, and its peers, all showing the same tree.

The tree is taken once from the view, as plain files: `native` is measured, and `over` holds what
the view has and the trunk has not, which is the upper of two lower directories to the peers.
"""
import filecmp
import json
import os
import shutil
import subprocess
import time

from .place import Failure, is_mounted, note, run, unmount
from .tree import BACKEND, TOPS

ANSWER_SEC = 20


class FileSystem:
    """One of those: `top` is the tree; `out(what)` a directory of it to write in."""

    def __init__(self, name, top):
        self.name, self.top = name, top

    def path(self, rel):
        return os.path.join(self.top, rel)

    def tops(self):
        return [self.path(t) for t in TOPS]

    def out(self, what):
        path = self.path(f'out/{what}')
        os.makedirs(path, exist_ok=True)
        return path

    def redirected(self, what):
        """The same outside of FUSE though inside the tree; None where there is no such thing."""
        return None

    def requests(self):
        """How many requests there were up to now; None if nobody counts."""
        return None


class Native(FileSystem):
    def redirected(self, what):
        return self.out(what)


class Specfs(FileSystem):
    """The view, mounted."""

    def __init__(self, program, work, root, env):
        super().__init__('specfs', os.path.join(work, 'specfs'))
        self.program, self.root, self.env = program, root, env
        self.scratch = os.path.join(work, 'scratch')
        self.build = None
        self.asked, self.price = 0, 0  # for reading the counters themselves

    def mount(self):
        os.makedirs(self.top, exist_ok=True)
        os.makedirs(self.scratch, exist_ok=True)
        run([self.program, 'mount', '-q', '-b', BACKEND, '-p', 'flagtree', '-s', self.scratch,
             self.root, self.top], env=self.env)
        self.build = self.redirect()
        self.count()
        self.price = -(self.count() - self.count())

    def redirect(self):
        """A directory of the view that does not go through FUSE; None if there is no way."""
        build = self.path('build')
        try:
            os.makedirs(build, exist_ok=True)
        except FileExistsError:
            pass  # a link that leads to it
        if not self.is_direct(build):
            subprocess.run([self.program, 'redirect', 'add', self.top, 'build'], env=self.env,
                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, check=False)
        if self.is_direct(build):
            return build
        note('this specfs redirects no directory: those rows are left out')
        return None

    def is_direct(self, path):
        try:
            return os.stat(path).st_dev != os.stat(self.top).st_dev
        except OSError:
            return False

    def redirected(self, what):
        if not self.build:
            return None
        path = os.path.join(self.build, what)
        os.makedirs(path, exist_ok=True)
        return path

    def status(self):
        with open(self.path('.specfs/status'), encoding='utf-8') as f:
            return json.load(f)

    def count(self):
        # nobody waits for a forget
        return sum(n for kind, n in self.status()['requests'].items() if kind != 'forget')

    def requests(self):
        self.asked += 1
        return self.count() - self.asked * self.price

    def unmount(self):
        run([self.program, 'umount', self.top], env=self.env)


# ------------------------------------------------------------------ the tree of the others


def copy_entry(view, native, over, trunk, rel):
    """One object of the view into the plain tree, and into `over` if the trunk has another."""
    source, below = os.path.join(view, rel), os.path.join(trunk, rel)
    shutil.copy2(source, os.path.join(native, rel), follow_symlinks=False)
    if os.path.islink(source):
        same = os.path.islink(below) and os.readlink(below) == os.readlink(source)
    else:
        same = os.path.isfile(below) and filecmp.cmp(source, below)
    if not same:
        os.makedirs(os.path.dirname(os.path.join(over, rel)), exist_ok=True)
        shutil.copy2(source, os.path.join(over, rel), follow_symlinks=False)


def materialize(view, native, over, trunk):
    """Copy what the view shows; .git comes from the trunk, since the view only reads it."""
    for where, dirs, files in os.walk(view):
        rel = os.path.relpath(where, view)
        dirs[:] = [d for d in dirs if rel != '.' or d not in ('.git', 'build', 'out')]
        os.makedirs(os.path.join(native, rel), exist_ok=True)
        links = [d for d in dirs if os.path.islink(os.path.join(where, d))]
        for name in files + links:
            copy_entry(view, native, over, trunk, os.path.normpath(os.path.join(rel, name)))
    shutil.copytree(os.path.join(trunk, '.git'), os.path.join(native, '.git'), symlinks=True)


# ------------------------------------------------------------------ the peers


def overlayfs(d):
    return ['mount', '-t', 'overlay', 'overlay', '-o',
            f'lowerdir={d["over"]}:{d["trunk"]},upperdir={d["upper"]},workdir={d["work"]}', d['at']]


def fuse_overlayfs(d):
    return ['fuse-overlayfs', '-o',
            f'lowerdir={d["over"]}:{d["trunk"]},upperdir={d["upper"]},workdir={d["work"]}', d['at']]


def unionfs(d):
    return [shutil.which('unionfs') or 'unionfs-fuse', '-o', 'cow',
            f'{d["upper"]}=RW:{d["over"]}=RO:{d["trunk"]}=RO', d['at']]


def mergerfs(d):
    return ['mergerfs', '-o', 'category.create=ff',
            f'{d["upper"]}=RW:{d["over"]}=RO:{d["trunk"]}=RO', d['at']]


def bindfs(d):
    return ['bindfs', d['native'], d['at']]


# name, programs of which one has to be there, who may, command
PEERS = (
    ('overlayfs', ('mount', ), 'root', overlayfs),
    ('fuse-overlayfs', ('fuse-overlayfs', ), 'anybody', fuse_overlayfs),
    ('unionfs-fuse', ('unionfs', 'unionfs-fuse'), 'anybody', unionfs),
    ('mergerfs', ('mergerfs', ), 'anybody', mergerfs),
    ('bindfs', ('bindfs', ), 'anybody', bindfs),
)
USUAL = ('overlayfs', 'fuse-overlayfs')


def installed(names):
    """The peers that can be mounted here, of @names; an unknown name ends the program."""
    for name in names:
        if name not in [p[0] for p in PEERS]:
            raise Failure(f"no peer '{name}', expected some of {' '.join(p[0] for p in PEERS)}")
    return [p for p in PEERS if p[0] in names and any(shutil.which(x) for x in p[1])
            and (p[2] == 'anybody' or os.geteuid() == 0)]


def mount_peer(peer, top, undo):
    """Mount it; None, with a line, if that does not work here."""
    name, _, _, command = peer
    d = {'native': os.path.join(top, 'native'), 'over': os.path.join(top, 'over'),
         'trunk': os.path.join(top, 'checkout')}
    for part in 'upper', 'work', 'at':
        d[part] = os.path.join(top, 'peers', name, part)
        os.makedirs(d[part])
    undo.callback(unmount, d['at'])
    try:
        run(command(d))
    except Failure as e:
        note(f'without {name}: {e}')
        return None
    end = time.monotonic() + ANSWER_SEC
    while not is_mounted(d['at']):
        if time.monotonic() > end:
            note(f'without {name}: no mount after {ANSWER_SEC} s')
            return None
        time.sleep(0.01)
    return FileSystem(name, d['at'])
