# SPDX-License-Identifier: MIT
"""Small checkouts for tests of the hooks, and the Pythons that import them.

The trunk's package is python/triton; `backend` is one backend's provider files, by names below
third_party/<backend>/spec/triton.
"""
import os
import shutil
import subprocess
import sys

from checks import clean_env, run

PROFILE = '''[profile]
name = hooks-test
backends = third_party/*/
[map python]
at = python/triton
from = third_party/${backend}/spec/triton
only = /tools/ /runtime/
except = /tools/__init__.py /runtime/__init__.py
[graft spec]
at = python/triton/spec/${backend}
from = third_party/${backend}/spec
[file marker]
at = python/triton/FLAGTREE_BACKEND
content = ${backend}
[hide]
names = __pycache__/
[write]
/.git = deny
@ignored = scratch
@backend = owner
@mapped = spec
@any = owner
[hooks]
'''


def profile(**keys):
    """{'.specfs.ini': ...} with these keys in [hooks]"""
    lines = ''.join(f'{key} = {value}\n' for key, value in keys.items())
    return {'.specfs.ini': PROFILE + lines}


def trunk(files):
    return {'python/triton/' + name: text for name, text in files.items()}


def backend(name, files):
    return {f'third_party/{name}/spec/triton/{at}': text for at, text in files.items()}


def pythons():
    """Each CPython from 3.9 on that runs here: the tests' own, then those on PATH by version."""
    found, versions = [sys.executable], {sys.version_info[:2]}
    ask = 'import sys; print(*sys.version_info[:2], sys.implementation.name)'
    for minor in range(9, 20):
        path = shutil.which(f'python3.{minor}')
        if not path or (3, minor) in versions:
            continue
        # a shim of a version manager may be there for a version that is not chosen
        p = subprocess.run([path, '-c', ask], capture_output=True, text=True, env=clean_env())
        if p.returncode == 0 and p.stdout.split() == ['3', str(minor), 'cpython']:
            found.append(path)
    return found


def python(root, code, exe=sys.executable, ok=(0, ), **env):
    """Run @code with root/python to import from; the CompletedProcess."""
    env = clean_env(PYTHONPATH=os.path.join(root, 'python'), PYTHONDONTWRITEBYTECODE='1', **env)
    return run([exe, '-c', code], cwd='/', env=env, ok=ok)
