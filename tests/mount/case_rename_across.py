# SPDX-License-Identifier: MIT
"""Renaming between places of different layers never ends in "cross-device link", and loses nothing.

And tools that rename much: pip, git, an overlay over the view.
"""
import functools
import itertools
import os
import shutil
import sys
import tempfile
import zipfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from checks import Skip, clean_env, need_namespace, need_program, run
from everyplace import everywhere, facts, planted, same
from mounted import View, equal, git, main, temp_base, true

SPEC = 'third_party/b/spec_cpp/include'
TREE = {
    '.gitignore': '/ignored/\n',
    'doc/a/f': 'doc f\n',
    'include/a/f': 'include f\n',
    'ignored/a/f': 'ignored f\n',
    'third_party/b/backend/a/f': 'backend f\n',
    'third_party/c/a/f': 'other f\n',
    'a/f': 'root f\n',
    SPEC + '/a/g': 'spec g\n',
    SPEC + '/own/f': 'spec f\n',
}
# a directory of each layer, and those that a view makes of them
PLACES = ('.', 'doc', 'include', 'include/own', 'ignored', 'ignored/new', SPEC,
          'third_party/b/backend', 'python/triton/backends/b', 'third_party/c')


def mounted(**kw):
    return View(TREE, 'b', opts=['-p', 'flagtree'] + kw.pop('opts', []), **kw)


def names_that_a_map_hides_are_not_lost():
    """The map of include shows no CMakeLists.txt of its directory."""
    with mounted() as v:
        for number, place in enumerate(PLACES):
            old, new = v.path(f'{place}/h{number}'), v.path(f'include/own/i{number}')
            os.makedirs(old + '/sub')
            for name in ('f', 'sub/CMakeLists.txt'):
                with open(f'{old}/{name}', 'w') as f:
                    f.write(place)
            os.rename(old, new)
            true(not os.path.lexists(old), f'{old} is gone')
        v.remount()
        for number, place in enumerate(PLACES):
            for name in ('f', 'sub/CMakeLists.txt'):
                equal(v.read(f'include/own/i{number}/{name}'), place.encode(), f'from {place}')


def from_each_place_to_each(opts=()):
    with mounted(opts=list(opts)) as v:
        os.mkdir(v.path('ignored/new'))
        for number, (a, b) in enumerate(itertools.permutations(PLACES, 2)):
            here, there = v.path(f'{a}/f{number}'), v.path(f'{b}/g{number}')
            os.makedirs(here + 'd/sub')
            for name in (here, here + 'd/sub/f'):
                with open(name, 'w') as f:
                    f.write(f'{number}')
            for old, new in ((here, there), (here + 'd', there + 'd'), (there, here),
                             (there + 'd', here + 'd'), (here, there), (here + 'd', there + 'd')):
                try:
                    os.rename(old, new)
                except OSError as e:
                    raise AssertionError(f'from {old} to {new}: {e}') from None
                true(not os.path.lexists(old), f'{old} is gone')
        seen = facts(v.mnt)
        for number, (a, b) in enumerate(itertools.permutations(PLACES, 2)):
            for name in (f'{b}/g{number}', f'{b}/g{number}d/sub/f'):
                equal(v.read(name), b'%d' % number, f'from {a}: {name}')
            true(f'f{number}' not in os.listdir(v.path(a)), f'no f{number} is listed in {a}')
        v.remount()
        same(facts(v.mnt), seen, 'after a remount')


def in_a_view_of_scratch_alone():
    from_each_place_to_each(opts=['--scratch-all'])


def each_file_lies_where_its_new_place_belongs():
    with mounted() as v:
        for rel in ('doc', 'ignored', 'third_party/c'):
            os.rename(v.path(f'{rel}/a/f'), v.path(f'include/own/{rel.replace("/", "-")}'))
            os.rename(v.path(f'{rel}/a'), v.path(f'include/{rel.replace("/", "-")}'))
        os.rename(v.path('include/own'), v.path('doc/own'))
        os.rename(v.path('doc/own'), v.path('include/own'))
        v.umount()
        equal(sorted(os.listdir(f'{v.root}/{SPEC}/own')), ['doc', 'f', 'ignored', 'third_party-c'],
              'the backend has the files')
        equal(sorted(n for n in os.listdir(f'{v.root}/{SPEC}') if n[0] != '.'),
              ['a', 'doc', 'ignored', 'own', 'third_party-c'], 'and the directories')
        true(not os.path.lexists(f'{v.root}/doc/a'), 'what was moved in place is gone')
        equal(os.listdir(f'{v.root}/ignored/a'), ['f'], 'what is scratch\'s to remove is kept')


def git_follows_moves_in_trunk():
    """`git mv` needs .git, which is writable in a view of scratch alone."""
    with mounted() as v:
        run(['mv', v.path('doc'), v.path('doc2')])
        run(['mv', v.path('a/f'), v.path('doc2/a/root')])
        v.git('add', '-A')
        equal(sorted(v.git('status', '--porcelain').splitlines()),
              ['R  a/f -> doc2/a/root', 'R  doc/a/f -> doc2/a/f'], 'as in the checkout')
    with mounted(opts=['--scratch-all']) as v:
        git(v.mnt, 'mv', 'doc', 'doc3')
        git(v.mnt, 'mv', 'include', 'include3')
        shown = git(v.mnt, 'status', '--porcelain').splitlines()
        true('R  doc/a/f -> doc3/a/f' in shown and 'R  include/a/f -> include3/a/f' in shown,
             f'in the view: {shown}')
        equal(v.git('status', '--porcelain'), '', 'the checkout')


def an_overlay_may_lie_over_a_view():
    need_namespace()
    with mounted() as v:
        os.symlink('f', v.path('doc/a/link'))
        p = run(['unshare', '-m', 'sh', '-ec', OVERLAY, v.mnt], ok=None)
        if p.returncode == 77:
            raise Skip('no overlay can be mounted here')
        equal((p.returncode, p.stdout), (0, 'f\ndoc f\nmore\n'), f'status and output; {p.stderr}')
        equal(v.read('doc/a/f'), b'doc f\n', 'the view itself')


OVERLAY = '''
mount -t tmpfs none /mnt
mkdir /mnt/upper /mnt/work /mnt/merged
mount -t overlay -o lowerdir="$0",upperdir=/mnt/upper,workdir=/mnt/work none /mnt/merged || exit 77
cd /mnt/merged/doc/a
mv link link2
readlink link2
echo more >> f
cat f
'''


def wheel(directory, version):
    """A package of one module and a directory that differs by version."""
    path = os.path.join(directory, f'demo-{version}-py3-none-any.whl')
    info = f'demo-{version}.dist-info'
    files = {
        'demo/__init__.py': f'version = "{version}"\n',
        f'demo/data{version}/a/b.txt': version,
        f'demo/common/{version}.txt': version,
        'demo/common/same.txt': 'same',
        f'{info}/METADATA': f'Metadata-Version: 2.1\nName: demo\nVersion: {version}\n',
        f'{info}/WHEEL': 'Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
    }
    files[f'{info}/RECORD'] = ''.join(f'{name},,\n' for name in [*files, f'{info}/RECORD'])
    with zipfile.ZipFile(path, 'w') as z:
        for name, text in files.items():
            z.writestr(name, text)
    return path


def pip(venv, *words):
    run([sys.executable, '-m', 'pip', '--python', os.path.join(venv, 'bin', 'python'), *words],
        env=clean_env(PIP_NO_INDEX='1', PIP_DISABLE_PIP_VERSION_CHECK='1', PIP_NO_COMPILE='1'))


@functools.cache
def environment():
    """A virtual environment with the package in it, and a newer wheel; removed by main's end."""
    tmp = tempfile.TemporaryDirectory(prefix='specfs-venv-', dir=temp_base())
    venv = os.path.join(tmp.name, 'venv')
    if run([sys.executable, '-m', 'pip', '--python', sys.executable, '--version'],
           ok=None).returncode:
        raise Skip('no pip that installs for another Python')
    run([sys.executable, '-m', 'venv', '--without-pip', venv])
    pip(venv, 'install', wheel(tmp.name, '1.0'))
    return tmp, venv, wheel(tmp.name, '2.0')


def copy_environment(p):
    shutil.copytree(environment()[1], f'{p.trunk}/venv', symlinks=True)


@planted(copy_environment)
def pip_upgrades_and_uninstalls_what_trunk_has(p):
    venv = p('venv')
    [site] = [base for base, dirs, _ in os.walk(venv) if 'demo' in dirs]
    pip(venv, 'install', '--upgrade', environment()[2])
    said = run([f'{venv}/bin/python', '-c', 'import demo; print(demo.version)']).stdout
    equal(said, '2.0\n', 'version')
    equal(sorted(os.listdir(f'{site}/demo/common')), ['2.0.txt', 'same.txt'], 'files')
    pip(venv, 'uninstall', '-y', 'demo')
    equal([n for n in os.listdir(site) if 'demo' in n or n[0] == '~'], [], 'left in site-packages')


need_program('mv', 'git')
main(names_that_a_map_hides_are_not_lost, from_each_place_to_each, in_a_view_of_scratch_alone,
     each_file_lies_where_its_new_place_belongs, git_follows_moves_in_trunk,
     an_overlay_may_lie_over_a_view,
     *everywhere(pip_upgrades_and_uninstalls_what_trunk_has, routings=['rules']))
