# SPDX-License-Identifier: MIT
"""specfs status and, inside a mount, specfs which: what a view differs in, and where files are."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, 'lib'), os.path.join(HERE, '..', 'mount', 'lib')]

from checks import write_file
from mounted import ORIGIN_XATTR, equal, main, need_fuse, true
from workplace import Workplace

TREE = {
    '.gitignore': '*.o\n/build/\n',
    'python/triton/language/__init__.py': '__path__ = spec_path(__path__)\n',
    'python/triton/language/a.py': 'trunk\n',
    'python/triton/language/b.py': 'trunk\n',
    'include/x.h': 'trunk\n',
    'include/gone.h': 'trunk\n',
    'third_party/one/spec/triton/language/a.py': 'spec\n',
    'third_party/one/spec/triton/language/extra.py': 'spec\n',
    'third_party/one/spec_cpp/include/x.h': 'spec\n',
    'third_party/one/spec_cpp/include/.specfs-hide': '# a comment\n\ngone.h\n',
}


def changes(o):
    return sorted((c['change'], c['path']) for c in o['changes'])


def an_untouched_view_has_no_changes():
    need_fuse()
    with Workplace(TREE) as w:
        w.specfs('mount', '-q', '-b', 'one', w.root, w.path('m'))
        o = w.json('status', w.path('m'))
        equal(changes(o), [], 'changes')
        equal(sorted((s['change'], s['path']) for s in o['specializations']), [
            ('adds', 'python/triton/language/extra.py'),
            ('hides', 'include/gone.h'),
            ('replaces', 'include/x.h'),
            ('replaces', 'python/triton/language/a.py'),
        ], 'specializations')
        equal((o['root'], o['backends'], o['state']), (w.root, ['one'], 'alive'), 'facts')
        equal([o['pid']], w.daemons(), 'pid')


def what_scratch_has_is_listed():
    need_fuse()
    with Workplace(TREE) as w:
        m = w.path('m')
        w.specfs('mount', '-q', '-b', 'one', '--scratch-all', w.root, m)
        write_file(m + '/build/deep/er/x.o', '1')
        write_file(m + '/build/y.o', '1')
        write_file(m + '/include/x.h', 'changed\n')
        write_file(m + '/include/new.o', '1')
        os.remove(m + '/python/triton/language/b.py')
        write_file(m + '/short.o', '1')
        os.remove(m + '/short.o')
        equal(changes(w.json('status', m)), [
            ('changed', 'include/x.h'),
            ('deleted', 'python/triton/language/b.py'),
            ('new', 'build'),
            ('new', 'include/new.o'),
        ], 'changes')
        [build] = [c for c in w.json('status', m)['changes'] if c['path'] == 'build']
        equal((build['type'], build['files']), ('directory', 2), 'a new directory is one item')
        equal([p for c, p in changes(w.json('status', '-a', m)) if p.startswith('build')],
              ['build', 'build/deep', 'build/deep/er', 'build/deep/er/x.o', 'build/y.o'],
              'with --all')
        [x] = [s for s in w.json('status', m)['specializations'] if s['path'] == 'include/x.h']
        equal(x['change'], 'covered', 'a specialization under a changed file')
        text = w.specfs('status', m).stdout
        for want in ('changes in scratch: 2 new, 1 changed, 1 deleted', 'build/ (2 files)',
                     f'root       {w.root}\n', 'backend    one\n', ': alive\n'):
            true(want in text, f'{want!r} in {text!r}')


def a_directory_made_anew_is_replaced():
    need_fuse()
    with Workplace(TREE) as w:
        m = w.path('m')
        w.specfs('mount', '-q', '--scratch-all', w.root, m)
        os.remove(m + '/include/x.h')
        os.remove(m + '/include/gone.h')
        os.rmdir(m + '/include')
        os.mkdir(m + '/include')
        write_file(m + '/include/x.h', 'other\n')
        equal(changes(w.json('status', m)), [('new', 'include/x.h'), ('replaced', 'include')],
              'changes')


def the_view_is_the_one_around_or_the_only_one():
    need_fuse()
    with Workplace(TREE) as w:
        m = w.path('m')
        w.specfs('mount', '-q', '-b', 'one', w.root, m)
        equal(w.json('status', cwd=m + '/include')['mountpoint'], m, 'the one around')
        equal(w.json('status', m + '/include/x.h')['mountpoint'], m, 'of a path inside')
        w.fault('status', w.root, has=['is in no mounted view', 'specfs list'])
        w.fault('status', w.path('nope', 'x'), has='No such file')


def list_tells_all():
    need_fuse()
    with Workplace(TREE) as w:
        w.specfs('mount', '-q', '-b', 'one', w.root, w.path('m1'))
        w.specfs('mount', '-q', '-l', w.path('root/include'), w.root, w.path('m2'))
        views = {o['mountpoint']: o for o in w.json('list')}
        one, two = views[w.path('m1')], views[w.path('m2')]
        equal((one['backends'], one['state'], one['root']), (['one'], 'alive', w.root), 'one')
        equal((two['backends'], two['state'], two['profile']), ([], 'alive', None), 'two')
        equal(sorted([one['pid'], two['pid']]), sorted(w.daemons()), 'pids')
        lines = w.specfs('list').stdout.splitlines()
        equal(lines[0].split(), ['MOUNTPOINT', 'BACKEND', 'PID', 'STATE', 'ROOT'], 'head')
        true([w.path('m1'), 'one', str(one['pid']), 'alive', w.root] in [x.split() for x in lines],
             f'a row for m1 in {lines}')


def which_inside_a_mount():
    need_fuse()
    with Workplace(TREE) as w:
        m = w.path('m')
        w.specfs('mount', '-q', '-b', 'one', w.root, m)
        write_file(m + '/include/new.o', '1')
        for path in ('python/triton/language/a.py', 'include/x.h', 'include/new.o', '.gitignore'):
            full = f'{m}/{path}'
            [o] = w.json('which', full)
            equal(o['view_path'], path, 'view path')
            equal(f"{o['from']['layer']} {o['from']['path']}",
                  os.getxattr(full, ORIGIN_XATTR).decode(), f'what the mount itself says of {path}')
        [o] = w.json('which', 'new.o', cwd=m + '/include')
        equal((o['from']['layer'], o['edit']['destination']), ('scratch', 'scratch'), 'in scratch')
        [o] = w.json('which', m + '/include/gone.h', ok=(1, ))
        equal((o['in_view'], o['view_path']), (False, 'include/gone.h'), 'a hidden name')
        [o] = w.json('which', m)
        equal((o['view_path'], o['type']), ('', 'directory'), 'the root')


def a_changed_profile_is_told():
    need_fuse()
    own = '[profile]\nname = own\n[write]\n@any = owner\n'
    with Workplace({**TREE, '.specfs.ini': own}) as w:
        m = w.path('m')
        w.specfs('mount', '-q', w.root, m)
        equal(w.json('status', m)['profile_changed'], False, 'at first')
        write_file(w.root + '/.specfs.ini', own + '@any = deny\n')
        p = w.specfs('status', m)
        true('its file has changed since' in p.stdout, f'it says so: {p.stdout!r}')
        true('.specfs.ini:' in p.stderr and p.stderr.count('\n') == 1, f'and why: {p.stderr!r}')
        write_file(m + '/file', b'x') # the old rules hold
        p = w.specfs('sync', m, ok=(2, ))
        true(".specfs.ini:5: a rule below '@any'" in p.stderr, f'so does sync: {p.stderr!r}')
        p = w.specfs('status', m)
        true(".specfs.ini:5: a rule below '@any'" in p.stdout, f'and what: {p.stdout!r}')
        write_file(w.root + '/.specfs.ini', own + '; more\n')
        w.specfs('sync', m)
        p = w.specfs('status', m)
        equal(('has changed since' in p.stdout, p.stderr), (False, ''), 'a sound one')


def layers_have_names_of_their_own():
    need_fuse()
    with Workplace() as w:
        m = w.path('m')
        w.specfs('mount', '-q', '-b', 'mthreads', w.root, m)
        lines = [line for line in w.specfs('status', m).stdout.splitlines() if 'hooks:' in line]
        equal(len(set(lines)), len(lines), f'lines about the hooks: {lines}')


main(an_untouched_view_has_no_changes, what_scratch_has_is_listed,
     a_directory_made_anew_is_replaced, the_view_is_the_one_around_or_the_only_one,
     list_tells_all, which_inside_a_mount, a_changed_profile_is_told,
     layers_have_names_of_their_own)
