# SPDX-License-Identifier: MIT
"""The same small tree wherever a write can go, for tests of what must hold at all of these places.

    def a_directory_is_renamed(p):
        os.rename(p('td'), p('new'))
        equal(p.names('new'), ['1', '2', '3', 'sub'], 'names')

    main(*everywhere(a_directory_is_renamed, ...))

Each test is called with a Place: a directory of its own.  The tests share three views, one after
the other, which together have each kind of place.  After all tests a view is mounted once more and
must be what it was, and a trunk that no write may reach must be as it was.

    mapped       new and changed files become the backend's (spec)
    owner        trunk's files, changed in place
    ignored      what git ignores: copied to scratch, new files are scratch's
    scratch-all  a mapped place of a view that writes to scratch alone
    overlay      a directory over a tree (-l): copied to scratch

With the word `apart` on the command line each layer is on a file system of its own, and the spec
directory on one that knows no extended attributes; root only.
"""
import functools
import os
import stat
import sys
import traceback

from checks import Skip, equal, read_file, run, true, unmount
from loopfs import LoopFs
from mounted import View, make_tree

SPEC = 'third_party/b/spec_cpp/include'
TREE = {
    't.txt': 'trunk t\n',
    'both.txt': 'trunk both\n',
    'tl': ('link', 't.txt'),
    'tdl': ('link', 'td'),
    'td/1': 'one\n',
    'td/2': 'two\n',
    'td/3': 'three\n',
    'td/sub/deep': 'deep\n',
    'md/t': 'from trunk\n',
    'md/both': 'trunk both\n',
    'empty/.keep': '',
}
UPPER = {
    's.txt': 'spec s\n',
    'both.txt': 'spec both\n',
    'md/s': 'from spec\n',
    'md/both': 'spec both\n',
    'sd/4': 'four\n',
}



class Place:
    """One directory of a view.  p(name) is a path in the mount.

    name    as above
    v       the view
    at      where it is in the view
    trunk   the directory in the checkout that lies lowest
    upper   the directory that lies over it, or None
    kept    no write in the view may change the trunk
    """

    def __init__(self, v, name, at, trunk, upper):
        self.v, self.name, self.at, self.trunk, self.upper = v, name, at, trunk, upper
        self.kept = name != 'owner'

    def __call__(self, rel=''):
        return self.v.path(os.path.join(self.at, rel) if rel else self.at)

    def read(self, rel):
        return read_file(self(rel))

    def write(self, rel, data, mode='w'):
        with open(self(rel), mode) as f:
            f.write(data)

    def names(self, rel=''):
        return sorted(os.listdir(self(rel)))

    def exists(self, rel):
        """True when the name is there, dangling symlinks too; it must be listed just then."""
        there = os.path.lexists(self(rel))
        parent, name = os.path.split(self(rel))
        listed = os.path.isdir(parent) and name in os.listdir(parent)
        equal(listed, there, f'{rel} is listed if it can be found, and only then')
        return there

    def gone(self, *names):
        for name in names:
            true(not self.exists(name), f'{name} is gone')


# a place: its directory in the view
RULES = {'mapped': 'include', 'owner': 'doc', 'ignored': 'ignored'}
ROUTINGS = ('rules', 'scratch-all', 'overlay')


class PlacesView(View):
    """A View with the tree for each of @tests at each place that @routing has."""

    def __init__(self, routing, tests, opts=(), **kw):
        self.routing, self.tests = routing, [t.__name__ for t in tests]
        self.planted = {t.__name__: t.planted for t in tests if hasattr(t, 'planted')}
        opts = [*opts, '--scratch-all'] if routing == 'scratch-all' else list(opts)
        if routing == 'overlay':
            super().__init__(self._trees(['src'], TREE), opts=opts, dirty=self._plant, **kw)
        else:
            places = RULES.values() if routing == 'rules' else ['include']
            files = {'.gitignore': '/ignored/\n', **self._trees(places, TREE),
                     **self._trees([SPEC], UPPER)}
            super().__init__(files, 'b', opts=['-p', 'flagtree', *opts], dirty=self._plant, **kw)

    def _trees(self, places, tree):
        return {f'{at}/{test}/{rel}': data for at in places for test in self.tests
                for rel, data in tree.items()}

    def _put_apart(self):
        root = os.path.join(self.tmp, 'checkout')
        lower = self.at_end.enter_context(LoopFs())
        for at, words in ((root, ['--bind', lower]),
                          (os.path.join(root, SPEC), ['-t', 'ramfs', 'none']),
                          (os.path.join(self.tmp, 'over'), ['-t', 'tmpfs', 'none'])):
            os.makedirs(at)
            run(['mount', *words, at])
            self.at_end.callback(unmount, at)

    def _setup(self):
        if sys.argv[1:] == ['apart']:
            self._put_apart()
        if self.routing == 'overlay':
            over = os.path.join(self.tmp, 'over')
            make_tree(self._trees(['src'], UPPER), over)
            self.opts += ['-l', over]
        super()._setup()

    def _plant(self, root):
        for p in self.places():
            plant = self.planted.get(os.path.basename(p.at))
            if plant:
                plant(p)

    def places(self):
        """Every Place of every test."""
        if self.routing == 'overlay':
            where = {'overlay': ('src', os.path.join(self.tmp, 'over', 'src'))}
        elif self.routing == 'scratch-all':
            where = {'scratch-all': ('include', os.path.join(self.root, SPEC))}
        else:
            where = {name: (at, os.path.join(self.root, SPEC) if name == 'mapped' else None)
                     for name, at in RULES.items()}
        return [Place(self, name, f'{at}/{test}', os.path.join(self.root, at, test),
                      upper and os.path.join(upper, test))
                for name, (at, upper) in where.items() for test in self.tests]


def unmount(at):
    """Also while somebody has something open there."""
    if run(['umount', at], ok=None).returncode:
        run(['umount', '-l', at])


def planted(plant):
    """Decorator: @plant is called with the Place before anything is mounted, to make more there."""

    def mark(test):
        test.planted = plant
        return test

    return mark


def edits_trunk(test):
    """Decorator: the test itself changes the trunk, which then is not compared."""
    test.edits_trunk = True
    return test


def content(path, st):
    """What tells one content from another; of a huge file its size is enough."""
    if st.st_size > 1 << 26:
        return st.st_size
    return read_file(path) if os.access(path, os.R_OK) else 'closed'


def facts(top):
    """What a user can tell about a tree: types, modes, owners, links, times, contents."""
    out = {}
    for base, dirs, files in os.walk(top):
        if base == top:
            dirs[:] = [d for d in dirs if d != '.git']
        for name in dirs + files:
            path = os.path.join(base, name)
            st = os.lstat(path)
            data = links = None
            if stat.S_ISREG(st.st_mode):
                data = content(path, st)
            elif stat.S_ISLNK(st.st_mode):
                data = os.readlink(path)
            if not stat.S_ISDIR(st.st_mode):
                links = st.st_nlink
            out[os.path.relpath(path, top)] = (oct(st.st_mode), st.st_uid, st.st_gid, links,
                                               st.st_mtime_ns, data)
    return out


def differences(got, want):
    """One line for each path that two results of facts() do not agree on."""
    return [f'{path}: {want.get(path)} became {got.get(path)}'
            for path in sorted(set(got) | set(want)) if got.get(path) != want.get(path)]


def same(got, want, what):
    """Fail, naming each path, unless two results of facts() agree."""
    lines = differences(got, want)
    true(not lines, '\n    '.join([what, *lines[:20]]))


class Faults:
    """What was found, by test."""

    def __init__(self, tests):
        self.of = {t.__name__: [] for t in tests}
        self.skips = {}
        self.ran = False

    def call(self, test, p):
        try:
            test(p)
        except Skip as e:
            self.skips[test.__name__] = e
        except (AssertionError, OSError) as e:
            frames = traceback.extract_tb(e.__traceback__)
            at = [f.lineno for f in frames if f.name == test.__name__]
            self.of[test.__name__].append(f'{p.name}, line {at[-1]}: {e}')

    def compare(self, got, want, what, name):
        lines = differences(got, want)
        if lines:
            self.of[name].append('\n    '.join([what, *lines[:10]]))

    def run(self, tests, routings, opts):
        for routing in routings:
            try:
                with PlacesView(routing, tests, opts) as v:
                    self.in_view(v, {t.__name__: t for t in tests})
            except AssertionError as e:
                # a test that failed may have left a file open, so that nothing can be unmounted
                if not any(self.of.values()):
                    raise
                self.of[tests[0].__name__].append(str(e))
        self.ran = True

    def in_view(self, v, tests):
        places = v.places()
        trunk = {p.at: facts(p.trunk) for p in places}
        for p in places:
            self.call(tests[os.path.basename(p.at)], p)
        seen = {p.at: facts(p()) for p in places}
        for p in places:
            if p.kept and not hasattr(tests[os.path.basename(p.at)], 'edits_trunk'):
                self.compare(facts(p.trunk), trunk[p.at], f'{p.name}: the trunk',
                             os.path.basename(p.at))
        v.remount()
        for p in places:
            self.compare(facts(p()), seen[p.at], f'{p.name}: after a remount',
                         os.path.basename(p.at))


def everywhere(*tests, routings=ROUTINGS, opts=()):
    """What to give to main(): a function for each test, which says how it went at all places."""
    faults = Faults(tests)

    def told(test):

        @functools.wraps(test)
        def tell():
            if not faults.ran:
                faults.run(tests, routings, list(opts))
            mine = faults.of[test.__name__]
            true(not mine, '\n  '.join(['', *mine]))
            if test.__name__ in faults.skips:
                raise faults.skips[test.__name__]

        return tell

    return [told(t) for t in tests]
