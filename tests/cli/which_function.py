# SPDX-License-Identifier: MIT
"""specfs which MODULE:FUNCTION: who provides a Python function, what it replaces, by what means."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, 'lib'), os.path.join(HERE, '..', 'mount', 'lib')]

from hooktree import backend, profile, trunk
from mounted import View, equal, main, run, true
from workplace import Workplace

TRUNK = {
    **trunk({
        '__init__.py': 'from . import testing\ndef version(): return 1\n',
        'testing.py': '"""\ndef nvsmi(): no\n"""\nimport os\n'
                      'from triton._flagtree_spec import spec_func, spec_call\n\n'
                      'def nvsmi(attrs):\n    return attrs\n\n'
                      'def tflops():\n    return 0\n\n'
                      'nvsmi = spec_func("nvsmi") or nvsmi\n'
                      'made = spec_call("make_ir", nvsmi)\n'
                      'given = spec_func("given")\n',
        'runtime/__init__.py': 'def hint(): return 1\n',
        'runtime/jit.py': 'def jit(fn): return fn\n',
        'tools/compile.py': 'def main(): return 1\n',
    }),
    **backend('demo', {
        '__init__.py': 'from .testing import nvsmi, unasked, given\n'
                       'from ._make import (\n    real as make_ir,\n)\n',
        'testing.py': '# ours\ndef nvsmi(attrs):\n    return []\n\n'
                      'def unasked(): pass\ndef given(): pass\n',
        '_make.py': '\n\ndef real(fn): return fn\n',
        'runtime/__init__.py': 'def hint(): return 2\n',
        'tools/compile.py': 'def main(): return 2\n',
    }),
    **backend('other', {'__init__.py': 'def nvsmi(attrs): return ["other"]\n'}),
}
ASKING = {**TRUNK, **profile()}
BINDING = {**TRUNK, **profile(**{'import': 'yes'})}
SPEC = 'third_party/demo/spec/triton/'


def look(w, word, chain='demo', ok=(0, )):
    [o] = w.json('which', '-b', chain, '-C', w.root, word, ok=ok)
    equal((o['path'], o['type']), (word, 'function'), 'what is told about')
    return o


def at(w, o, key):
    """(path in the checkout, line) of a place, or None"""
    return o[key] and (os.path.relpath(o[key]['path'], w.root), o[key]['line'])


def a_function_that_the_trunk_asks_for():
    with Workplace(ASKING) as w:
        o = look(w, 'triton.testing:nvsmi')
        equal(at(w, o, 'provider'), (SPEC + 'testing.py', 2), 'provider')
        equal(o['provider']['module'], 'triton.spec.demo.triton.testing', 'its module')
        equal(at(w, o, 'replaces'), ('python/triton/testing.py', 7), 'what it replaces')
        equal(at(w, o, 'asked_at'), ('python/triton/testing.py', 13), 'where it is asked for')
        equal((o['bound_by'], o['backend'], o['provided']), ('spec_func', 'demo', True), 'how')


def a_name_that_is_no_function_of_the_trunk():
    with Workplace(ASKING) as w:
        o = look(w, 'triton.testing:make_ir')
        equal((at(w, o, 'provider'), o['replaces'], o['bound_by']),
              ((SPEC + '_make.py', 3), None, 'spec_call'), 'through an import under another name')


def what_the_trunk_only_asks_for_replaces_nothing():
    with Workplace(ASKING) as w:
        o = look(w, 'triton.testing:given')
        equal((o['replaces'], at(w, o, 'asked_at'), o['bound_by']),
              (None, ('python/triton/testing.py', 15), 'spec_func'), 'given')


def what_nobody_asks_for_is_bound_by_nothing():
    with Workplace(ASKING) as w:
        o = look(w, 'triton.testing:unasked')
        equal((o['provided'], o['bound_by']), (True, None), 'provided, not bound')
        text = w.specfs('which', '-b', 'demo', '-C', w.root, 'triton.testing:unasked').stdout
        true('bound by    nothing' in text, text)


def the_import_hook_goes_by_modules():
    with Workplace(BINDING) as w:
        for word, provider, replaced in (
            ('triton.testing:nvsmi', ('testing.py', 2), ('testing.py', 7)),
            ('triton.runtime:hint', ('runtime/__init__.py', 1), ('runtime/__init__.py', 1))):
            o = look(w, word)
            equal(o['bound_by'], 'import hook', word)
            equal(at(w, o, 'provider'), (SPEC + provider[0], provider[1]), word)
            equal(at(w, o, 'replaces'), ('python/triton/' + replaced[0], replaced[1]), word)
    with Workplace(ASKING) as w:
        equal(look(w, 'triton.runtime:hint', ok=(1, ))['provider'], None, 'without the hook')


def a_whole_file_is_no_provider():
    with Workplace(BINDING) as w:
        o = look(w, 'triton.tools.compile:main', ok=(1, ))
        equal((o['provider'], at(w, o, 'replaces')), (None, (SPEC + 'tools/compile.py', 1)),
              'the function is that of the file which the view shows')


def a_chain_asks_its_most_special_backend():
    with Workplace(ASKING) as w:
        o = look(w, 'triton.testing:nvsmi', 'other,demo')
        equal((o['backend'], at(w, o, 'provider')),
              ('other', ('third_party/other/spec/triton/__init__.py', 1)), 'provider')
        look(w, 'triton.testing:make_ir', 'other,demo', ok=(1, ))


def nobody_provides_it():
    with Workplace(ASKING) as w:
        for word, has in (('triton.testing:tflops', 'function, not specialized'),
                          ('triton.testing:nothing', 'no such function'),
                          ('triton.nowhere:f', 'no such function'),
                          ('other.package:f', 'no such function')):
            look(w, word, ok=(1, ))
            p = w.specfs('which', '-b', 'demo', '-C', w.root, word, ok=(1, ))
            true(f'{word}: {has}' in p.stdout, p.stdout)
        [o] = w.json('which', '-C', w.root, 'triton.testing:nvsmi', ok=(1, ))
        equal((o['backend'], o['provided']), (None, False), 'without a backend')


def other_words_are_paths():
    with Workplace({**ASKING, 'python/a.b:c': 'x', 'triton.testing:nvsmi': 'a file'}) as w:
        for word in ('triton.testing:nvsmi', 'python/a.b:c'):
            [o] = w.json('which', '-b', 'demo', '-C', w.root, word)
            equal(o['type'], 'file', word)
        for word in ('a:b:c', ':f', 'm:', 'm:f.g', '.m:f', 'm..n:f', '1m:f', 'm:1', 'd/m:f'):
            [o] = w.json('which', '-b', 'demo', '-C', w.root, word, ok=(1, ))
            equal(o['in_view'], False, word)


def text_tells_the_same():
    with Workplace(ASKING) as w:
        text = w.specfs('which', '-b', 'demo', '-C', w.root, 'triton.testing:nvsmi').stdout
        for want in (f'{w.root}/{SPEC}testing.py:2, module triton.spec.demo.triton.testing\n',
                     f'replaces    trunk: {w.root}/python/triton/testing.py:7, module',
                     f'asked at    trunk: {w.root}/python/triton/testing.py:13, module',
                     'bound by    spec_func\n'):
            true(want in text, f'{want!r} in {text!r}')


def a_mounted_view_is_asked_from_inside():
    with View(ASKING, 'demo') as v:
        text = run([v.bin, 'which', 'triton.testing:nvsmi'], cwd=v.path('python'), env=v.env).stdout
        true('bound by    spec_func' in text, text)


main(a_function_that_the_trunk_asks_for, a_name_that_is_no_function_of_the_trunk,
     what_the_trunk_only_asks_for_replaces_nothing, what_nobody_asks_for_is_bound_by_nothing,
     the_import_hook_goes_by_modules, a_whole_file_is_no_provider,
     a_chain_asks_its_most_special_backend, nobody_provides_it, other_words_are_paths,
     text_tells_the_same, a_mounted_view_is_asked_from_inside)
