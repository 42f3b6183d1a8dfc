# SPDX-License-Identifier: MIT
"""A trunk that calls hooks and lacks the module for them gets the installation's from the view."""
import hashlib
import mmap
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from hooktree import backend, profile, python, pythons, trunk
from mounted import (Skip, TempDir, View, equal, git, main, read_file, run, true, wait_for,
                     write_file)

NAME = '_flagtree_spec.abi3.so'
AT = 'python/triton/' + NAME
TRUNK = trunk({
    '__init__.py': 'from . import testing, tools\n',
    'testing.py': 'from triton._flagtree_spec import spec_func, spec_call\n'
                  'def nvsmi(): return "trunk nvsmi"\n'
                  'nvsmi = spec_func("nvsmi") or nvsmi\n'
                  'target = spec_call("get_target", 3) or "trunk target"\n',
    'tools/__init__.py': 'from triton._flagtree_spec import spec_path\n'
                         'spec_path(__path__)\n'
                         'from . import compile\n',
    'tools/compile.py': 'ORIGIN = "trunk"\n',
})
DEMO = backend('demo', {
    '__init__.py': 'from .testing import nvsmi\ndef get_target(n): return f"demo target {n}"\n',
    'testing.py': 'def nvsmi(): return "demo nvsmi"\n',
    'tools/compile.py': 'ORIGIN = "demo"\n',
})
OTHER = backend('other', {'__init__.py': 'def nvsmi(): return "other nvsmi"\n'})
IGNORE = {'.gitignore': '*.so\npython/triton/FLAGTREE_BACKEND\npython/triton/spec/\n'}
TREE = {**TRUNK, **DEMO, **OTHER, **IGNORE, **profile(supply='yes')}
ASK = ('import triton\n'
       'from triton import testing as t, tools\n'
       'print(t.nvsmi(), "/", t.target, "/", tools.compile.ORIGIN, "/", len(tools.__path__))\n'
       'print(triton._flagtree_spec.__file__)\n')
SPECIAL = 'demo nvsmi / demo target 3 / demo / 1'
PLAIN = 'trunk nvsmi / trunk target / trunk / 1'


def installed():
    if 'SPECFS_HOOKS_DIR' not in os.environ:
        raise Skip('SPECFS_HOOKS_DIR is not set')
    return os.path.join(os.environ['SPECFS_HOOKS_DIR'], NAME)


def every_python_gets_the_backends_functions():
    with View(TREE, 'demo') as v:
        for exe in pythons():
            out = python(v.mnt, ASK, exe).stdout.split('\n')
            equal(out[0], SPECIAL, f'{exe}: what the hooks gave')
            equal(out[1], v.path(AT), f'{exe}: where the module came from')


def without_backend_the_trunk_works_too():
    with View(TREE) as v:
        equal(python(v.mnt, ASK).stdout.split('\n')[0], PLAIN, 'what the hooks gave')


def a_chain_asks_its_most_special_backend():
    for chain, want in (('demo,other', 'demo nvsmi'), ('other,demo', 'other nvsmi')):
        with View(TREE, chain) as v:
            true(python(v.mnt, ASK).stdout.startswith(want), f'{chain}: {want}')
            equal(v.read('python/triton/FLAGTREE_BACKEND'), want.split()[0].encode(), chain)


def the_view_says_where_it_comes_from():
    with View(TREE, 'demo') as v:
        equal(v.origin(AT), 'hooks ' + os.path.realpath(installed()), 'origin')
        for rel in ('', 'python/triton', 'python/triton/tools'):
            true(v.origin(rel), f'the directory {rel!r} has an origin as well')
        text = run([v.bin, 'which', v.path(AT)], env=v.env).stdout
        for want in (f'from        hooks: {os.path.realpath(installed())}', 'the view makes it'):
            true(want in text, f'{want!r} in {text!r}')


def it_is_the_installations_file_byte_by_byte():
    with View(TREE, 'demo') as v:
        want = read_file(installed())
        equal(hashlib.sha256(v.read(AT)).hexdigest(), hashlib.sha256(want).hexdigest(), 'read')
        with open(v.path(AT), 'rb') as f, mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ) as m:
            true(m[:] == want, 'mapped')


def a_shadowed_file_is_the_same_file_in_the_graft():
    with View(TREE, 'demo') as v:
        a = os.stat(v.path('python/triton/tools/compile.py'))
        b = os.stat(v.path('python/triton/spec/demo/triton/tools/compile.py'))
        equal((a.st_dev, a.st_ino), (b.st_dev, b.st_ino), 'device and number')


def git_sees_nothing_where_its_kind_is_ignored():
    with View(TREE, 'other') as v:
        equal(git(v.mnt, 'status', '--porcelain'), '', 'git status')


def git_sees_untracked_files_otherwise():
    with View({**TREE, '.gitignore': ''}, 'other') as v:
        lines = git(v.mnt, 'status', '--porcelain').split('\n')
        equal(lines, ['?? python/triton/FLAGTREE_BACKEND', '?? ' + AT,
                      '?? python/triton/flagtree_spec.abi3.so', '?? python/triton/spec/', ''],
              'git status')


def changes_never_reach_the_installation():
    before = read_file(installed())
    with View(TREE, 'demo') as v:
        with open(v.path(AT), 'r+b') as f:
            f.write(b'changed')
        true(v.read(AT).startswith(b'changed'), 'the mount shows the change')
        os.unlink(v.path(AT))
        true(not v.exists(AT), 'it is gone from the view')
        equal(read_file(os.path.join(v.scratch, 'upper', AT)), b'', 'what scratch has')
        v.remount()
        true(not v.exists(AT), 'and still after a remount')
        true(not os.path.exists(os.path.join(v.root, AT)), 'the checkout has nothing')
    true(read_file(installed()) == before, 'the file of the installation is as it was')


def the_trunks_own_module_takes_its_place():
    own = trunk({'_flagtree_spec.py': 'def spec_func(name): return lambda: "own " + name\n'
                                      'def spec_call(name, *args): return "own " + name\n'
                                      'def spec_path(path): pass\n'})
    with View({**TREE, **own}, 'demo') as v:
        true(not v.exists(AT), 'nothing is supplied')
        equal(python(v.mnt, ASK).stdout.split(' / ')[:2], ['own nvsmi', 'own get_target'],
              'what the hooks gave')


def it_comes_and_goes_with_the_trunks_module():
    with View(TREE, 'demo') as v:
        own = os.path.join(v.root, 'python/triton/_flagtree_spec.py')
        for _ in range(3):
            true(NAME in v.listdir('python/triton') and os.stat(v.path(AT)), 'it is there')
            write_file(own, 'own = 1\n')
            wait_for(lambda: not v.exists(AT), 'it is gone when the trunk has the module')
            true(NAME not in v.listdir('python/triton'), 'and from the listing')
            os.unlink(own)
            wait_for(lambda: v.exists(AT), 'it is back when the trunk has it no more')


def a_new_file_of_the_installation_is_taken():
    with TempDir() as lib:
        shutil.copy(installed(), lib)
        with View(TREE, 'demo', env={'SPECFS_HOOKS_DIR': lib}) as v:
            equal(python(v.mnt, ASK).stdout.split('\n')[0], SPECIAL, 'with the old one')
            write_file(os.path.join(lib, 'new'), 'not an extension')
            os.rename(os.path.join(lib, 'new'), os.path.join(lib, NAME))
            equal(v.read(AT), b'not an extension', 'what the view shows')


def a_broken_provider_is_told():
    broken = backend('demo', {'testing.py': 'import nothing_of_that_name\n'})
    with View({**TREE, **broken}, 'demo') as v:
        p = python(v.mnt, ASK, ok=(1, ))
        for want in ('ImportError', 'nothing_of_that_name', '/spec/demo/triton'):
            true(want in p.stderr, f'{want!r} in {p.stderr!r}')


def without_the_extension_nothing_is_mounted():
    with View(TREE, 'demo', mount=False, env={'SPECFS_HOOKS_DIR': '/nowhere'}) as v:
        p = run(v.mount_argv(), env=v.env, ok=(2, ))
        equal(p.stderr.count('\n'), 1, f'lines: {p.stderr!r}')
        for want in ('[hooks]', "'/nowhere'"):
            true(want in p.stderr, f'{want!r} in {p.stderr!r}')


main(every_python_gets_the_backends_functions, without_backend_the_trunk_works_too,
     a_chain_asks_its_most_special_backend, the_view_says_where_it_comes_from,
     it_is_the_installations_file_byte_by_byte, a_shadowed_file_is_the_same_file_in_the_graft,
     git_sees_nothing_where_its_kind_is_ignored, git_sees_untracked_files_otherwise,
     changes_never_reach_the_installation, the_trunks_own_module_takes_its_place,
     it_comes_and_goes_with_the_trunks_module, a_new_file_of_the_installation_is_taken,
     a_broken_provider_is_told, without_the_extension_nothing_is_mounted)
