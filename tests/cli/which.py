# SPDX-License-Identifier: MIT
"""specfs which, without a mount: where paths come from, what they hide, where changes would go."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, 'lib'), os.path.join(HERE, '..', 'mount', 'lib')]

from mounted import equal, main, true
from workplace import Workplace

TREE = {
    '.gitignore': '*.o\n',
    '.git-is-made/': None,
    'python/triton/FLAGTREE_BACKEND': 'left over\n',
    'python/triton/language/__init__.py': '__path__ = spec_path(__path__)\n',
    'python/triton/language/a.py': 'trunk\n',
    'python/triton/language/only.py': 'trunk\n',
    'python/triton/_C/include': ('link', '../../../include'),
    'include/x.h': 'trunk\n',
    'third_party/one/spec/triton/language/a.py': 'spec\n',
    'third_party/one/spec_cpp/include/x.h': 'spec\n',
    'third_party/two/spec_cpp/include/x.h': 'two\n',
}
SPEC = 'third_party/one/spec/triton/language'


def look(w, path, *words, ok=(0, ), cwd=None):
    [o] = w.json('which', '-b', 'one', '-C', w.root, *words, path, ok=ok, cwd=cwd)
    return o


def a_specialized_file():
    with Workplace(TREE) as w:
        o = look(w, 'python/triton/language/a.py')
        equal(o['view_path'], 'python/triton/language/a.py', 'view path')
        equal((o['in_view'], o['type']), (True, 'file'), 'kind')
        equal(o['from']['path'], f'{w.root}/{SPEC}/a.py', 'where it comes from')
        equal(o['hides'], [{'layer': 'trunk', 'path': f'{w.root}/python/triton/language/a.py'}],
              'what it hides')
        equal((o['edit']['destination'], o['edit']['in_place'], o['edit']['path']),
              ('owner', True, f'{w.root}/{SPEC}/a.py'), 'an edit')
        true('@backend' in o['edit']['rule'], f'{o["edit"]["rule"]!r} names the rule')
        equal(o['create']['path'], f'{w.root}/{SPEC}/specfs-new.py', 'a new file beside it')


def a_trunk_file_in_a_mapped_place():
    with Workplace(TREE) as w:
        o = look(w, 'python/triton/language/only.py')
        equal((o['from']['layer'], o['hides']), ('trunk', []), 'where it comes from')
        equal((o['edit']['destination'], o['edit']['in_place']), ('spec', False), 'an edit')
        equal(o['edit']['path'], f'{w.root}/{SPEC}/only.py', 'where the copy would be')


def files_that_only_the_view_has():
    with Workplace(TREE) as w:
        o = look(w, 'python/triton/FLAGTREE_BACKEND')
        equal(o['from']['path'], None, 'it has no place on disk')
        equal(o['edit']['destination'], 'scratch', 'an edit')


def what_git_ignores_goes_to_scratch():
    with Workplace(TREE) as w:
        o = look(w, 'include/new.o', ok=(1, ))
        equal((o['in_view'], o['create']['destination']), (False, 'scratch'), 'a new .o')
        true('@ignored' in o['create']['rule'], f'{o["create"]["rule"]!r} names the rule')
        equal(look(w, '.git/config')['edit']['destination'], 'deny', 'an edit of .git')


def directories_name_their_parts():
    with Workplace(TREE) as w:
        o = look(w, 'include')
        equal(o['type'], 'directory', 'kind')
        parts = {o['from']['layer']} | {p['layer'] for p in o['merged_with']}
        true({'trunk'} < parts and len(parts) == 2, f'trunk and the backend: {parts}')


def a_chain_is_looked_at_in_its_order():
    with Workplace(TREE) as w:
        for chain, first, second in (('one,two', 'one', 'two'), ('two,one', 'two', 'one')):
            [o] = w.json('which', '-b', chain, '-C', w.root, 'include/x.h')
            true(f'/third_party/{first}/' in o['from']['path'], f'{chain}: {o["from"]}')
            equal([h['path'].split('third_party/')[-1] for h in o['hides']],
                  [f'{second}/spec_cpp/include/x.h', f'{w.root}/include/x.h'], 'hidden ones')


def paths_of_the_view_and_of_the_checkout():
    with Workplace(TREE) as w:
        want = 'python/triton/language/a.py'
        below = os.path.join(w.root, 'python', 'triton')
        for path, cwd in ((want, w.tmp), (want, below), ('language/a.py', below),
                          ('./language/../language//a.py', below), (f'{w.root}/{want}', w.tmp)):
            equal(look(w, path, cwd=cwd)['view_path'], want, f'{path} from {cwd}')
        equal(look(w, 'python/triton/_C/include/x.h')['view_path'], 'include/x.h', 'through a link')
        equal(look(w, 'python/triton/_C/include')['type'], 'symlink', 'the link itself')
        true(want in look(w, f'{SPEC}/a.py')['shown_at'], 'a file of the spec directory')
        w.fault('which', '-b', 'one', '-C', w.root, '/etc/passwd', has='is not in the checkout')


def the_exit_status_tells_what_is_absent():
    with Workplace(TREE) as w:
        for path in ('nope', 'no/such/dir', 'include/x.h/y', '../out'):
            p = w.specfs('which', '-b', 'one', '-C', w.root, 'include/x.h', path, ok=(1, ))
            true(f'{path}: not in the view' in p.stdout, f'{path}: {p.stdout!r}')
        w.fault('which', '-b', 'one', '-C', w.root, 'x' * 5000, has='too long')


def without_mount_and_backend_there_is_no_view():
    with Workplace(TREE) as w:
        w.fault('which', 'include/x.h', cwd=w.root, has=['in no mounted view', '-b BACKEND'])
        w.fault('which', '-p', 'flagtree', 'include/x.h', cwd=w.root, has="'-p' needs -b")
        w.fault('which', '-b', 'nope', 'x', cwd=w.root, has=["no backend 'nope'", 'one'])


def text_tells_the_same():
    with Workplace(TREE) as w:
        text = w.specfs('which', '-b', 'one', 'python/triton/language/a.py', cwd=w.root).stdout
        for want in (f'{w.root}/{SPEC}/a.py', 'hides', 'edit        in place in one',
                     'remove      from one', 'new beside', 'flagtree.ini:'):
            true(want in text, f'{want!r} in {text!r}')


main(a_specialized_file, a_trunk_file_in_a_mapped_place, files_that_only_the_view_has,
     what_git_ignores_goes_to_scratch, directories_name_their_parts,
     a_chain_is_looked_at_in_its_order, paths_of_the_view_and_of_the_checkout,
     the_exit_status_tells_what_is_absent, without_mount_and_backend_there_is_no_view,
     text_tells_the_same)
