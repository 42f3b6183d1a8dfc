# SPDX-License-Identifier: MIT
"""The seed's permission tree of python/triton, line by line.

Backend "everywhere" has a file for every name; what FlagTree lets a backend take over is seen in
the view, what it does not stays the trunk's.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))

from mounted import Problems, View, main
from seedtree import PLAIN

# name below python/triton, as the seed draws it; "spec": may be hijacked or lies in what may be
TREE = '''
    _filecheck.py                                 hook
    _flagtree_backend.py                          never
    _flagtree_spec.py                             never
    _internal_testing.py                          trunk
    _utils.py                                     hook
    errors.py                                     hook
    knobs.py                                      trunk
    testing.py                                    hook
    __init__.py                                   never
    backends/__init__.py                          hook
    backends/compiler.py                          spec
    backends/driver.py                            spec
    backends/extra_backend.py                     new
    compiler/__init__.py                          hook
    compiler/compiler.py                          spec
    compiler/code_generator.py                    spec
    compiler/extra_pass.py                        new
    experimental/__init__.py                      never
    experimental/extra_experiment.py              absent
    experimental/gluon/__init__.py                hook
    experimental/gluon/_runtime.py                spec
    experimental/gluon/extra_gluon.py             new
    experimental/gluon/amd/__init__.py            spec
    experimental/gluon/amd/gfx1250.py             spec
    experimental/gluon/language/__init__.py       spec
    experimental/gluon/language/_core.py          spec
    experimental/gluon/language/amd/__init__.py   spec
    experimental/gluon/language/amd/cdna4/__init__.py      spec
    experimental/gluon/language/extra/__init__.py          spec
    experimental/gluon/language/nvidia/__init__.py         spec
    experimental/gluon/language/nvidia/ampere/__init__.py  spec
    experimental/gluon/language/nvidia/blackwell/__init__.py  spec
    experimental/gluon/language/nvidia/hopper/__init__.py  spec
    experimental/gluon/nvidia/__init__.py         spec
    experimental/gluon/nvidia/hopper.py           spec
    experimental/tle/__init__.py                  never
    experimental/tle/extra_tle.py                 absent
    experimental/tle/language/__init__.py         never
    experimental/tle/language/gpu/__init__.py     never
    experimental/tle/language/gpu/mthreads/__init__.py    never
    experimental/tle/language/gpu/everywhere/__init__.py  absent
    experimental/tle/language/raw/__init__.py     never
    experimental/tle/raw/__init__.py              never
    experimental/tle/raw/mlir/__init__.py         never
    language/__init__.py                          hook
    language/core.py                              spec
    language/extra_language.py                    new
    language/extra/__init__.py                    spec
    language/extra/libdevice.py                   spec
    runtime/__init__.py                           hook
    runtime/jit.py                                spec
    runtime/extra_runtime.py                      new
    tools/__init__.py                             hook
    tools/compile.py                              spec
    tools/extra_tool.py                           new
'''


def the_permission_tree_holds():
    problems = Problems()
    with View(PLAIN, 'everywhere') as v:
        for line in TREE.strip().splitlines():
            name, kind = line.split()
            path = 'python/triton/' + name
            if kind == 'absent':
                problems.compare(path, False, v.exists(path))
                continue
            want = b'"everywhere"' if kind in ('spec', 'new') else b'"trunk"'
            if not v.exists(path):
                problems.add(path, want, 'nothing')
                continue
            origin = [line for line in v.read(path).splitlines() if line.startswith(b'ORIGIN = ')]
            problems.compare(path, [b'ORIGIN = ' + want], origin)
            provider = 'python/triton/spec/everywhere/triton/' + name
            if kind in ('spec', 'new', 'hook'):
                problems.compare(provider, True, v.exists(provider))
    problems.finish('permission tree')


main(the_permission_tree_holds)
