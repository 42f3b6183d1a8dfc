# SPDX-License-Identifier: MIT
"""What the seed tests share: the expected view as a table, building and importing a checkout.

The rules themselves are written by hand in tests/trees/expected.py; here they are only laid over
the list of the checkout's own files.
"""
import contextlib
import json
import os
import sys

from mounted import (HERE, TREES, Problems, TempDir, View, clean_env, commit_all, copy_tree, equal,
                     need_program, read_file, run, true)

sys.path.insert(0, TREES)
import expected

PLAIN = 'flagtree-mini'
HOOKED = 'flagtree-mini+flagtree-mini-hooks'
OLDER = 'backend-spec-mini'
CPP_BACKENDS = ('enflame', 'ppu', 'xpu', 'everywhere')
PYTHON_BACKENDS = ('iluvatar', 'mthreads', 'ppu', 'everywhere')


def base_tree(tree):
    """'flagtree-mini' of 'flagtree-mini+flagtree-mini-hooks'"""
    return tree.split('+')[0]


# ------------------------------------------------------------------ the table of a view


@contextlib.contextmanager
def checkout(tree):
    """A committed copy of a sample checkout for several views, gone afterwards; its path."""
    with TempDir() as tmp:
        root = os.path.join(tmp, 'checkout')
        copy_tree(tree, root)
        commit_all(root)
        yield root


def each_view(tree, check, backends=None):
    """Mount one checkout for one backend after the other and call check(view)."""
    with checkout(tree) as root:
        for backend in backends or expected.VIEWS[base_tree(tree)]:
            with View(tree, backend, root=root) as v:
                check(v)


def entries(root, rel=''):
    """{path: entry} of everything below root/rel, symlinks not followed.

    An entry is ('dir',), ('link', text) or ('file', bytes); anything else is ('other', type bits).
    """
    out = {}
    for base, dirs, files in os.walk(os.path.join(root, rel)):
        for name in dirs + files:
            full = os.path.join(base, name)
            out[os.path.relpath(full, root)] = entry(full)
    return out


def entry(path):
    """The entry of one path; None when there is nothing."""
    try:
        kind = os.lstat(path).st_mode & 0o170000
    except FileNotFoundError:
        return None
    if kind == 0o040000:
        return ('dir', )
    if kind == 0o120000:
        return ('link', os.readlink(path))
    if kind == 0o100000:
        return ('file', read_file(path))
    return ('other', oct(kind))


def drop(table, path):
    """Take a path and all below it out of a table."""
    for name in [n for n in table if n == path or n.startswith(path + '/')]:
        del table[name]


def put(table, path, value):
    """Enter a path with its parent directories."""
    parent = os.path.dirname(path)
    while parent:
        table.setdefault(parent, ('dir', ))
        parent = os.path.dirname(parent)
    table[path] = value


def view_table(root, tree, backend):
    """What the view of @backend must show of the checkout at @root: {path: entry}.

    Left-over links in the checkout (python/triton/spec/* of other backends) are not in it; nor is
    anything else that git ignores there, so plant such things after this was called.
    """
    view = expected.VIEWS[base_tree(tree)][backend]
    table = entries(root)
    for path in [
            p for p, e in table.items()
            if e[0] == 'link' and os.path.dirname(p) == 'python/triton/spec'
    ]:
        del table[path]
    for path in view['absent']:
        drop(table, path)
    for path, origin in view['files'].items():
        put(table, path, ('file', read_file(os.path.join(root, origin))))
    for path, data in view['content'].items():
        put(table, path, ('file', data))
    for path, target in view['links'].items():
        drop(table, path)
        put(table, path, ('link', os.path.relpath(target, os.path.dirname(path))))
    for path, origin in view['grafts'].items():
        drop(table, path)
        put(table, path, ('dir', ))
        for name, value in entries(root, origin).items():
            put(table, path + name[len(origin):], value)
    return table


def short(value):
    """An entry as one short text."""
    if value is None:
        return 'nothing'
    return value[0] if len(value) == 1 else f'{value[0]} {value[1][:90]!r}'


def check_view(v, want):
    """Walk the whole mount: every name, type, link text and byte; lookups agree with listings."""
    problems = Problems()
    got = entries(v.mnt)
    for path in sorted(set(got) | set(want)):
        if got.get(path) != want.get(path):
            problems.add(path, short(want.get(path)), short(got.get(path)))
        elif path in want and entry(v.path(path)) != want[path]:
            problems.add(path, short(want[path]), 'listed, but a lookup by name differs')
    problems.finish(f'view of {v.backend}, {len(want)} paths')


# ------------------------------------------------------------------ building


def configure(src, build, backend=''):
    """cmake -G Ninja; @backend goes into the environment as at FlagTree's installation."""
    need_program('cmake', 'ninja', 'cc', 'c++')
    return run(['cmake', '-G', 'Ninja', '-S', src, '-B', build],
               env=clean_env(FLAGTREE_BACKEND=backend),
               limit_sec=300).stdout


def make(build, backend=''):
    """ninja in a configured directory; returns what it printed."""
    return run(['ninja', '-j2', '-C', build],
               env=clean_env(FLAGTREE_BACKEND=backend),
               limit_sec=600).stdout


def report(build):
    """{line: variant} that the built program prints."""
    program = os.path.join(build, 'bin', 'triton-report')
    if not os.path.exists(program):
        program = os.path.join(build, 'triton-report')
    lines = run([program]).stdout.splitlines()
    return dict(line.rsplit(': ', 1) for line in lines)


def build_and_report(src, build, backend=''):
    """Configure, build, check that a second ninja has nothing to do; the program's table."""
    configure(src, build, backend)
    make(build, backend)
    true('no work to do' in make(build, backend), f'{build}: a second ninja has no work to do')
    return report(build)


def spec_lines(configure_output):
    """The SPEC: lines of FlagTree's configure."""
    return [line[3:] for line in configure_output.splitlines() if line.startswith('-- SPEC:')]


def compare_report(got, want, what):
    problems = Problems()
    for line in sorted(set(got) | set(want)):
        problems.compare(line, want.get(line), got.get(line))
    problems.finish(what)


# ------------------------------------------------------------------ importing


def probe(root, modules=(), **env):
    """Import the whole package below root/python in a fresh interpreter; what lib/probe.py printed.

    @modules are asked for by name, beside all whose files are found.
    """
    argv = [sys.executable, os.path.join(HERE, 'probe.py'), os.path.join(root, 'python')]
    return json.loads(
        run(argv + list(modules), cwd='/', env=clean_env(**env), limit_sec=120).stdout)


def module_name(path):
    """'triton.tools' of 'python/triton/tools/__init__.py'"""
    name = path[len('python/'):-len('.py')].replace('/', '.')
    return name[:-len('.__init__')] if name.endswith('.__init__') else name


def specialized_modules(tree, backend):
    """{module: variant} that the hand-written table says a backend brings."""
    return {
        module_name(path): origin.split('/')[1]
        for path, origin in expected.VIEWS[base_tree(tree)][backend]['files'].items()
        if path.startswith('python/triton/') and path.endswith('.py')
    }


def found_specialized(found, tree, backend):
    """{module: variant} of imported modules that are not the trunk's; grafts, links left out."""
    own = []
    if backend:
        view = expected.VIEWS[base_tree(tree)][backend]
        own = [at[len('python/'):].replace('/', '.') for at in [*view['grafts'], *view['links']]]
    return {
        name: origin
        for name, origin in found['origins'].items()
        if origin != 'trunk' and not any(name == o or name.startswith(o + '.') for o in own)
    }


def check_modules(found, root, table):
    """Every imported module lies below @root and has the bytes that @table has for its path."""
    problems = Problems()
    for name, path in sorted(found['modules'].items()):
        rel = os.path.relpath(path, root)
        if rel.startswith('..'):
            problems.add(name, f'a file below {root}', path)
            continue
        want = table.get(rel)
        real = os.path.relpath(os.path.realpath(path), os.path.realpath(root))
        if want is None:
            want = table.get(real)
        if want is None or want != ('file', read_file(path)):
            problems.add(name, short(want), f'{path}: {read_file(path)[:90]!r}')
    problems.finish('imported modules')


def python_files(table):
    """Module names of the files below python/triton in a table, providers below spec/ left out."""
    names = set()
    for path in table:
        if path.startswith('python/triton/') and path.endswith(
                '.py') and not path.startswith('python/triton/spec/'):
            names.add(module_name(path))
    return names


def check_imported_all(found, table):
    """Nothing of the package was left out or failed."""
    equal(found['failed'], {}, 'modules that could not be imported')
    missing = python_files(table) - set(found['modules'])
    equal(sorted(missing), [], 'modules that were never imported')
