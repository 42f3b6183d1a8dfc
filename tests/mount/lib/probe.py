# SPDX-License-Identifier: MIT
"""Imports everything of a `triton` package and asks its hooks; run as a program of its own.

    probe.py DIRECTORY [MODULE...]     the directory that holds the package; more modules to import

Prints one JSON object: modules (name -> file), failed (name -> error), hooks (see ask), marker.
"""
import importlib
import json
import os
import sys


def all_modules(package_dir):
    """Dotted names of every .py below the package, as files lie there (namespace packages too)."""
    base = os.path.dirname(package_dir)
    for here, dirs, files in os.walk(package_dir, followlinks=True):
        dirs[:] = sorted(d for d in dirs if d != '__pycache__')
        if os.path.relpath(here, package_dir) == '.':
            dirs[:] = [d for d in dirs if d not in ('spec', '_C')]
        for name in sorted(files):
            if name.endswith('.py'):
                rel = os.path.relpath(os.path.join(here, name),
                                      base)[:-len('.py')].replace(os.sep, '.')
                yield rel[:-len('.__init__')] if rel.endswith('.__init__') else rel


def hooks(triton):
    """What FlagTree's three interfaces give in this tree."""
    try:
        from triton import _filecheck, _utils, testing
        from triton._flagtree_spec import spec_call, spec_func
    except ImportError:
        return None

    def call(func, *args):
        return func(*args) if func else None

    return {
        'run_parser':
        _filecheck.run_parser('src'),
        'nvsmi':
        testing.nvsmi(['a', 'b']),
        'get_max_tensorcore_tflops':
        testing.get_max_tensorcore_tflops('f16'),
        'apply_with_path':
        call(getattr(_utils, 'apply_with_path', None), 'value', lambda path, value: (path, value)),
        'squeeze':
        call(getattr(triton.language, 'squeeze', None), 'x'),
        'unsqueeze':
        call(getattr(triton.language, 'unsqueeze', None), 'x'),
        'musa_compile':
        getattr(triton.compiler, 'musa_compile', None),
        'semantic_create_load':
        call(spec_func('semantic_create_load'), 'p'),
        'no_such_name':
        spec_call('no_such_name'),
    }


def main():
    sys.path.insert(0, sys.argv[1])
    import triton
    failed = {}
    for name in list(all_modules(os.path.join(sys.argv[1], 'triton'))) + sys.argv[2:]:
        try:
            importlib.import_module(name)
        except Exception as e:
            failed[name] = repr(e)
    # asked for before the list of modules is made: a provider is imported by the first question
    answers = hooks(triton)
    modules = {
        name: module.__file__
        for name, module in sys.modules.items()
        if name.split('.')[0] == 'triton' and getattr(module, '__file__', None)
    }
    origins = {
        name: module.ORIGIN
        for name, module in sys.modules.items()
        if name.split('.')[0] == 'triton' and hasattr(module, 'ORIGIN')
    }
    marker = sys.modules['triton._flagtree_backend'].FLAGTREE_BACKEND
    json.dump(
        {
            'modules': modules,
            'origins': origins,
            'failed': failed,
            'hooks': answers,
            'marker': marker
        }, sys.stdout)


main()
