# SPDX-License-Identifier: MIT
"""Interpreters for tests that install packages, and installing with them, without any index."""
import os
import sys

from checks import Skip, clean_env, run


def python_with(*modules):
    """An interpreter that has these modules; skips the test when there is none."""
    check = f'import importlib.util as u, sys; sys.exit(not all(map(u.find_spec, {modules!r})))'
    for python in (sys.executable, '/usr/bin/python3'):
        if os.path.exists(python) and run([python, '-c', check], ok=None).returncode == 0:
            return python
    raise Skip(f'no Python with {", ".join(modules)}')


def venv(python, at):
    """The interpreter of a new virtual environment that sees @python's modules."""
    run([python, '-m', 'venv', '--without-pip', '--system-site-packages', at])
    return os.path.join(at, 'bin', 'python')


def pip_env(**more):
    """pip without an index, a configuration, or a look for a newer one."""
    return clean_env(PIP_NO_INDEX='1', PIP_CONFIG_FILE='/dev/null',
                     PIP_DISABLE_PIP_VERSION_CHECK='1', **more)


def pip_install(python, *words, cwd=None, **env):
    """pip install WORDS, built in this environment."""
    return run([python, '-m', 'pip', 'install', '--no-build-isolation', '--no-deps', *words],
               env=pip_env(**env), cwd=cwd, limit_sec=300)
