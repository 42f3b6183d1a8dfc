# SPDX-License-Identifier: MIT
"""specfs backends: names and numbers, from anywhere inside the checkout, without a mount."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, 'lib'), os.path.join(HERE, '..', 'mount', 'lib')]

from mounted import equal, main, true
from workplace import Workplace

TREE = {
    'third_party/one/spec/triton/language/a.py': '1\n',
    'third_party/one/spec/triton/language/b.py': '1\n',
    'third_party/one/spec/triton/top.py': 'provider\n',
    'third_party/two/spec_cpp/include/x.h': '1\n',
    'third_party/none/README': 'no backend\n',
    'python/triton/language/__init__.py': '__path__ = spec_path(__path__)\n',
    'python/triton/language/a.py': '0\n',
    'include/x.h': '0\n',
}


def names_and_numbers():
    with Workplace(TREE) as w:
        facts = w.json('backends', w.root)
        equal(facts['root'], w.root, 'root')
        equal(facts['profile'], 'flagtree', 'profile')
        true('because' in facts['why'], f'{facts["why"]!r} gives a reason')
        equal([b['name'] for b in facts['backends']], ['one', 'two'], 'names')
        one, two = facts['backends']
        equal(one['directory'], 'third_party/one', 'directory')
        equal((one['specializations'], one['providers']), (2, 1), 'files of one')
        equal((two['specializations'], two['providers']), (1, 0), 'files of two')


def text_tells_the_same():
    with Workplace(TREE) as w:
        lines = w.specfs('backends', w.root).stdout.splitlines()
        true(lines[0].startswith(f"{w.root}: profile 'flagtree' because "), f'{lines[0]!r}')
        equal(lines[1].split(), ['BACKEND', 'SPECIALIZATIONS', 'PROVIDERS', 'DIRECTORY'], 'head')
        equal([line.split() for line in lines[2:]],
              [['one', '2', '1', 'third_party/one'], ['two', '1', '0', 'third_party/two']], 'rows')


def the_checkout_is_the_enclosing_one():
    with Workplace(TREE) as w:
        below = os.path.join(w.root, 'python', 'triton')
        equal(w.json('backends', cwd=below)['root'], w.root, 'root seen from below')
        equal(w.json('backends', '../..', cwd=below)['root'], w.root, 'root as a relative path')
        os.symlink(w.root, w.path('link'))
        equal(w.json('backends', w.path('link'))['root'], w.root, 'root through a link')


def an_own_profile_makes_a_checkout():
    own = {
        '.specfs.ini': '[profile]\nname = own\nbackends = b/*\n\n[map m]\nat = .\n'
                       'from = b/${backend}\n',
        'b/x/file': '1\n',
        'deep/er/': None,
    }
    with Workplace(own, use_git=False) as w:
        facts = w.json('backends', cwd=os.path.join(w.root, 'deep', 'er'))
        equal((facts['root'], facts['profile']), (w.root, 'own'), 'checkout and profile')
        equal([b['name'] for b in facts['backends']], ['x'], 'names')


def no_backends_is_an_answer():
    with Workplace({'a': 'b\n'}) as w:
        equal(w.json('backends', w.root)['backends'], [], 'backends')
        true('no backends' in w.specfs('backends', w.root).stdout, 'text says so')


main(names_and_numbers, text_tells_the_same, the_checkout_is_the_enclosing_one,
     an_own_profile_makes_a_checkout, no_backends_is_an_answer)
