# SPDX-License-Identifier: MIT
"""The same steps on a plain directory and at a Place: each must end the same, and so the tree.

    def steps(at):
        yield 'close it', lambda: os.chmod(at('t.txt'), 0)
        yield 'write to it', lambda: open(at('t.txt'), 'a').close()

    as_natively(p, steps)
"""
import errno
import os
import shutil
import stat

from checks import read_file, true
from everyplace import TREE, UPPER
from mounted import make_tree


def outcome(call):
    """What a call returned that can be compared, or the name of its error."""
    try:
        got = call()
    except OSError as e:
        return errno.errorcode.get(e.errno, e.errno)
    return got if isinstance(got, (int, str, bytes, list, tuple, bool)) else None


def state(top):
    """Types, modes, owners and contents of all that can be seen."""
    out = {}
    for base, dirs, files in os.walk(top):
        for name in dirs + files:
            path = os.path.join(base, name)
            st = os.lstat(path)
            data = None
            if stat.S_ISLNK(st.st_mode):
                data = os.readlink(path)
            elif stat.S_ISREG(st.st_mode) and os.access(path, os.R_OK):
                data = read_file(path)
            out[os.path.relpath(path, top)] = (oct(st.st_mode), st.st_uid, st.st_gid, data)
    return out


def _run(steps, top):
    return [(text, outcome(call))
            for text, call in steps(lambda rel='': os.path.join(top, rel) if rel else top)]


def as_natively(p, steps):
    """Fail, naming each step, unless all ends at the Place as it does on a plain directory."""
    plain = os.path.join(p.v.tmp, 'plain', p.name, os.path.basename(p.at))
    make_tree(TREE, plain)
    if p.upper:
        for rel in UPPER:
            if os.path.lexists(os.path.join(plain, rel)):
                os.unlink(os.path.join(plain, rel))
        make_tree(UPPER, plain)
    want, got = _run(steps, plain), _run(steps, p())
    lines = [f'{text}: natively {w}, in the view {g}'
             for (text, w), (_, g) in zip(want, got) if w != g]
    a, b = state(plain), state(p())
    lines += [f'{path}: natively {a.get(path)}, in the view {b.get(path)}'
              for path in sorted(set(a) | set(b)) if a.get(path) != b.get(path)]
    true(not lines, '\n    '.join(['differences', *lines]))
    shutil.rmtree(plain)
