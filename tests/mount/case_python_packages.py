# SPDX-License-Identifier: MIT
"""pip, virtual environments and editable installs in a mount: packages are found where the view
shows them, whatever layer each file comes from, and what was installed can be removed.
"""
import json
import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from daemontree import PLACES, view  # noqa: E402
from mounted import View, clean_env, equal, main, run, snapshot, true, wait_for  # noqa: E402
from pythons import pip_env, pip_install, python_with, venv  # noqa: E402

SETUP = '''
from setuptools import setup
setup(name='parted', version='1',
      packages=['parted', 'parted.runtime', 'only', 'merged', 'merged.sub'],
      package_dir={'parted': 'python/triton', 'parted.runtime': 'python/triton/runtime',
                   'only': 'third_party/b/extra', 'merged': 'python/triton/language',
                   'merged.sub': 'python/triton/language/sub'})
'''
SPEC = 'third_party/b/spec/triton'
PARTED = {
    '.gitignore': 'build/\n*.egg-info/\n__pycache__/\nvenv/\n',
    'setup.py': SETUP,
    'pyproject.toml': '[build-system]\nrequires = ["setuptools"]\n'
                      'build-backend = "setuptools.build_meta"\n',
    'python/triton/__init__.py': 'WHO = "trunk"\n',
    'python/triton/runtime/__init__.py': '',
    'python/triton/runtime/driver.py': 'WHO = "trunk"\n',
    'python/triton/language/__init__.py': '',
    'python/triton/language/core.py': 'WHO = "trunk"\n',
    'python/triton/language/math.py': 'WHO = "trunk"\n',
    SPEC + '/language/math.py': 'WHO = "b"\n',
    SPEC + '/language/sub/__init__.py': 'WHO = "b"\n',
    'third_party/b/extra/__init__.py': 'WHO = "b"\n',
}
ASK = '''
import importlib, json
out = {}
for name in ('parted', 'parted.runtime.driver', 'merged.core', 'merged.math', 'merged.sub', 'only'):
    m = importlib.import_module(name)
    out[name] = [getattr(m, 'WHO', None), m.__file__, list(getattr(m, '__path__', []))]
print(json.dumps(out))
'''
WHO = {'parted': 'trunk', 'parted.runtime.driver': 'trunk', 'merged.core': 'trunk',
       'merged.math': 'b', 'merged.sub': 'b', 'only': 'b'}


def parted():
    return View(PARTED, 'b', opts=['-p', 'flagtree'])


def an_editable_install_imports_from_the_view_alone():
    """Each way of setuptools; no path of trunk or spec directory is on any module."""
    base = python_with('pip', 'setuptools', 'wheel')
    with parted() as v:
        before = snapshot(v.root)
        for mode in ('lenient', 'strict'):  # compat maps no directories anywhere
            python = venv(base, os.path.join(v.tmp, f'venv-{mode}'))
            pip_install(python, '-e', v.mnt, '--config-settings', f'editable_mode={mode}',
                        cwd=v.tmp)
            said = json.loads(run([python, '-B', '-c', ASK], cwd='/', env=clean_env()).stdout)
            for name, (who, file, path) in said.items():
                equal(who, WHO[name], f'{mode}: {name}')
                for at in [file, *path]:
                    true(os.path.realpath(at).startswith(v.mnt + '/'), f'{mode}: {name} at {at}')
        equal(snapshot(v.root), before, 'the checkout')
        equal(v.git('status', '--porcelain', '--ignored'), '', 'git in the checkout')


def an_edit_shows_in_an_editable_install():
    base = python_with('pip', 'setuptools', 'wheel')
    with parted() as v:
        python = venv(base, os.path.join(v.tmp, 'venv'))
        pip_install(python, '-e', v.mnt, cwd=v.tmp)
        ask = 'import merged.core as c; print(c.WHO)'
        equal(run([python, '-B', '-c', ask], cwd='/').stdout, 'trunk\n', 'before')
        with open(f'{v.root}/python/triton/language/core.py', 'w', encoding='utf-8') as f:
            f.write('WHO = "edited underneath"\n')
        v.cli('sync', v.mnt)
        equal(run([python, '-B', '-c', ask], cwd='/').stdout, 'edited underneath\n', 'after')
        with open(v.path('python/triton/language/core.py'), 'w', encoding='utf-8') as f:
            f.write('WHO = "specialized in the view"\n')
        equal(run([python, '-B', '-c', ask], cwd='/').stdout, 'specialized in the view\n', 'again')
        os.unlink(f'{v.root}/{SPEC}/language/core.py')
        v.cli('sync', v.mnt)
        equal(run([python, '-B', '-c', ask], cwd='/').stdout, 'edited underneath\n', 'discarded')


def make_wheels(python, v, count):
    """Wheels of packages with many small modules, built outside the view."""
    for i in range(count):
        src = os.path.join(v.tmp, f'src{i}')
        os.makedirs(f'{src}/pack{i}/deep')
        for k in range(60):
            with open(f'{src}/pack{i}/deep/m{k}.py', 'w', encoding='utf-8') as f:
                f.write(f'N = {k}\n' * 50)
        for d in ('', '/deep'):
            with open(f'{src}/pack{i}{d}/__init__.py', 'w', encoding='utf-8') as f:
                f.write('')
        with open(f'{src}/setup.py', 'w', encoding='utf-8') as f:
            f.write(f'from setuptools import setup\nsetup(name="pack{i}", version="1", '
                    f'packages=["pack{i}", "pack{i}.deep"])\n')
        run([python, '-m', 'pip', 'wheel', '--no-build-isolation', '--no-deps', '-w',
             os.path.join(v.tmp, 'wheels'), src], env=pip_env(), limit_sec=200)
    return sorted(os.path.join(v.tmp, 'wheels', n) for n in os.listdir(f'{v.tmp}/wheels'))


def a_virtual_environment_in_the_mount_can_be_removed():
    """Wheels installed, upgraded, removed; pip killed in the middle; then all of it gone."""
    base = python_with('pip', 'setuptools', 'wheel')
    with view() as v:
        os.mkdir(v.path('build'))
        wheels = make_wheels(base, v, 2)
        for place in PLACES:
            python = venv(base, v.path(f'{place}/venv'))
            pip_install(python, *wheels)
            ask = 'import pack0.deep.m59, pack1.deep.m59; print(pack1.__file__)'
            said = run([python, '-c', ask], cwd='/', env=clean_env()).stdout.strip()
            true(said.startswith(v.path(f'{place}/venv/')), f'{place}: {said}')
            pip_install(python, '--force-reinstall', wheels[0])
            run([python, '-m', 'pip', 'uninstall', '-y', 'pack0'], env=pip_env())
            names = [n for b, d, f in os.walk(v.path(f'{place}/venv')) for n in d + f]
            equal([n for n in names if n.startswith(('pack0', '~'))], [], f'{place}: left')
            killed_in_the_middle(python, wheels, v.path(f'{place}/venv'))
            pip_install(python, '--force-reinstall', *wheels)
            run([python, '-c', ask], cwd='/', env=clean_env())
            run(['rm', '-rf', v.path(f'{place}/venv')])
            true(not v.exists(f'{place}/venv'), f'{place}: removed')
        v.remount()
        for place in PLACES:
            true(not v.exists(f'{place}/venv'), f'{place}: it stays gone')


def killed_in_the_middle(python, wheels, at):
    """SIGKILL once the first files of a package are there."""
    p = subprocess.Popen([python, '-m', 'pip', 'install', '--no-deps', '--force-reinstall',
                          *wheels], env=pip_env(), stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL)

    def begun():
        return p.poll() is not None or any(
            'm7.py' in files for base, _, files in os.walk(at) if 'pack0' in base)

    wait_for(begun, 'pip begins', 60)
    time.sleep(0.01)
    p.send_signal(signal.SIGKILL)
    p.wait()


def head_comes_whole_when_its_branch_changes():
    """A longer and a shorter name underneath: never cut to the length that was cached."""
    with view() as v:
        for name in ('a', 'a-very-long-name/' + 'x' * 100, 'b', 'main-' + 'y' * 60):
            v.git('symbolic-ref', 'HEAD', f'refs/heads/{name}')
            v.cli('sync', v.mnt)
            equal(v.read('.git/HEAD'), f'ref: refs/heads/{name}\n'.encode(), name)


def the_higher_type_wins_wholly():
    """A link over a package directory, a directory over a link, a file over a directory."""
    tree = {
        'python/triton/__init__.py': '',
        'python/triton/language/linked/__init__.py': 'WHO = "trunk"\n',
        'python/triton/language/linked/more.py': 'WHO = "trunk"\n',
        'python/triton/language/__init__.py': '',
        'python/triton/language/plain.py': 'WHO = "trunk"\n',
        'python/triton/language/other/__init__.py': 'WHO = "other"\n',
        'python/triton/language/was_dir/__init__.py': 'WHO = "trunk"\n',
        'python/triton/language/was_link': ('link', 'other'),
        SPEC + '/language/linked': ('link', 'other'),
        SPEC + '/language/was_dir': 'now a file\n',
        SPEC + '/language/was_link/__init__.py': 'WHO = "b"\n',
        SPEC + '/language/plain.py/inside.txt': 'now a directory\n',
    }
    with View(tree, 'b', opts=['-p', 'flagtree']) as v:
        at = 'python/triton/language'
        equal(os.readlink(v.path(f'{at}/linked')), 'other', 'a link over a directory')
        true(os.path.isfile(v.path(f'{at}/was_dir')), 'a file over a directory')
        equal(v.listdir(f'{at}/was_link'), ['__init__.py'], 'a directory over a link')
        equal(v.listdir(f'{at}/plain.py'), ['inside.txt'], 'a directory over a file')
        code = ('import triton.language.linked as a, triton.language.was_link as b\n'
                'print(a.WHO, b.WHO)\n'
                'try:\n import triton.language.was_dir\n'
                'except ImportError: print("no package")\n'
                'try:\n import triton.language.linked.more\n'
                'except ImportError: print("no module")\n')
        said = run([sys.executable, '-B', '-c', code], cwd=v.path('python'),
                   env=clean_env(PYTHONPATH=v.path('python'))).stdout
        equal(said, 'other b\nno package\nno module\n', 'what Python imports')


main(an_editable_install_imports_from_the_view_alone, an_edit_shows_in_an_editable_install,
     a_virtual_environment_in_the_mount_can_be_removed, head_comes_whole_when_its_branch_changes,
     the_higher_type_wins_wholly)
