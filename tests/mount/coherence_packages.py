# SPDX-License-Identifier: MIT
"""An __init__.py decides whether a backend's files show in its package: changed underneath, it does
so at once, and what is known of other packages is not looked through for it."""
import os

from mounted import View, equal, main, true, wait_for, write_file

CALLS = 'from triton.runtime.spec import spec_path\nspec_path(__path__)\n'
PLAIN = '"""Nothing special."""\n'
OTHERS = 300
FEW = 20  # for the package itself, and what reading .specfs/status costs
SPEC = 'third_party/b/backend/spec/triton'

TREE = {
    'python/triton/__init__.py': '',
    'python/triton/language/__init__.py': PLAIN,
    'python/triton/language/core.py': 'trunk\n',
    'python/triton/language/sub/__init__.py': PLAIN,
    'python/triton/language/sub/deep.py': 'trunk\n',
    f'{SPEC}/language/core.py': 'spec\n',
    f'{SPEC}/language/sub/deep.py': 'spec\n',
    f'{SPEC}/language/only.py': 'spec\n',
    **{f'python/triton/other{i}/__init__.py': PLAIN for i in range(OTHERS)},
    **{f'python/triton/other{i}/module.py': 'trunk\n' for i in range(OTHERS)},
}


def told(v):
    watch = v.status()['cache']['watch']
    return watch['entries'] + watch['attributes']


def look_at_all(v):
    for where, _, files in os.walk(v.path('python')):
        for f in files:
            os.stat(os.path.join(where, f))


def shows(v, rel, content):
    wait_for(lambda: v.exists(rel) and v.read(rel) == content, f'{rel} is {content}')


def a_call_makes_the_package_the_backends_and_back():
    with View(TREE, 'b', ['-p', 'flagtree-backend-spec']) as v:
        init = os.path.join(v.root, 'python/triton/language/__init__.py')
        for _ in range(3):
            look_at_all(v)
            equal(v.read('python/triton/language/core.py'), b'trunk\n', 'not taken over')
            true(not v.exists('python/triton/language/only.py'), 'nor what the backend adds')
            write_file(init, CALLS)
            for rel in 'core.py', 'sub/deep.py', 'only.py':
                shows(v, f'python/triton/language/{rel}', b'spec\n')
            look_at_all(v)
            write_file(init, PLAIN)
            for rel in 'core.py', 'sub/deep.py':
                shows(v, f'python/triton/language/{rel}', b'trunk\n')
            wait_for(lambda: not v.exists('python/triton/language/only.py'), 'it goes again')


def one_package_costs_no_look_at_others():
    with View(TREE, 'b', ['-p', 'flagtree-backend-spec']) as v:
        look_at_all(v)
        for i in range(5):
            rel = f'python/triton/other{i}/__init__.py'
            before = told(v)
            write_file(os.path.join(v.root, rel), f'"""Number {i}."""\n')
            shows(v, rel, f'"""Number {i}."""\n'.encode())
            v.cli('sync', v.mnt)
            cost = told(v) - before
            true(cost <= FEW, f'edit {i}: the kernel was told {cost} things, at most {FEW}')


main(a_call_makes_the_package_the_backends_and_back, one_package_costs_no_look_at_others)
