# SPDX-License-Identifier: MIT
"""A small checkout for tests of the daemon: one place of each kind of write route.

    build/     ignored by git: scratch's
    doc/       trunk's, edited in place
    include/   a map of backend b: new and changed files become the backend's
"""
import os

from mounted import View, equal, wait_for

SPEC = 'third_party/b/spec_cpp/include'
TREE = {
    '.gitignore': 'build/\n',
    'doc/t.txt': 'trunk text\n',
    'doc/sub/u.txt': 'trunk u\n',
    'include/t.h': 'trunk t\n',
    'include/both.h': 'trunk both\n',
    SPEC + '/both.h': 'spec both\n',
    SPEC + '/s.h': 'spec s\n',
    'lib/a.cpp': 'int a;\n',
}
PLACES = ('build', 'doc', 'include')


def view(**kw):
    """A View of that checkout for backend b, with all its directories in the mount itself."""
    return View(dict(TREE, **kw.pop('more', {})),
                'b',
                opts=['-p', 'flagtree', '-o', 'redirect=none'] + kw.pop('opts', []),
                **kw)


def shows(look, want, what):
    """An edit underneath shows in time: `look` gives @want, however long the machine takes."""
    last = []

    def there():
        try:
            last[:] = [look()]
        except OSError as e:
            last[:] = [e]
        return last[0] == want

    try:
        wait_for(there, what)
    except AssertionError:
        equal(last[0], want, what)


def gone(path, what):
    """A removal underneath shows in time."""
    wait_for(lambda: not os.path.lexists(path), what)
