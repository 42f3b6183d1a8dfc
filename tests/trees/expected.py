# SPDX-License-Identifier: MIT
"""What each backend's view of the sample checkouts must be.  Written by hand from FlagTree's rules.

VIEWS[tree][backend] says what differs from the checkout; everything it does not name is the trunk's
own file of that path:

    files    view path -> path in the checkout whose bytes are served there, as a regular file
    grafts   view path -> directory of the checkout that appears there, as a directory
    links    view path -> directory of the checkout that a relative symlink there leads to
    content  view path -> bytes of a file that no layer has
    absent   trunk paths that this view does not show (a directory: with all that is below)
    build    what the built program says, where it is not "trunk" ("python/src/ir.cc + ir.h" is the
             header that this source saw)
    native   lines of `build` that FlagTree's own mechanism gives otherwise, and what it gives;
             None: the line is not there

HOOKS[backend] is what spec_path, spec_call and spec_func of tests/trees/flagtree-mini-hooks give.
"""


def place(at, base, names):
    """{at/name: base/name} for the names of one spec directory."""
    return {f'{at}/{name}': f'{base}/{name}' for name in names.split()}


def python(backend, names):
    return place('python/triton', f'third_party/{backend}/spec/triton', names)


def cpp(backend, names):
    return place('.', f'third_party/{backend}/spec_cpp', names)


def python_src(backend, names):
    return place('python/src', f'third_party/{backend}/python/src', names)


def seed_view(backend, files=(), more_grafts=(), links=(), build=(), native=()):
    """A view in the seed's layout; the marker is there for every backend, verbatim, without a newline."""
    merged = {}
    for part in files:
        merged.update({path.removeprefix('./'): origin for path, origin in part.items()})
    return {
        'files': merged,
        'grafts': dict(more_grafts),
        'links': dict(links),
        'content': {'python/triton/FLAGTREE_BACKEND': backend.encode()},
        'absent': [],
        'build': dict(build),
        'native': dict(native),
    }


FUNC_OP = 'lib/Conversion/TritonGPUToLLVM/FuncOpToLLVM.cpp'
GPU_OPS = 'lib/Dialect/TritonGPU/IR/Ops.cpp'
OPS = 'lib/Dialect/Triton/IR/Ops.cpp'
COALESCE = 'lib/Dialect/TritonGPU/Transforms/Coalesce.cpp'

FLAGTREE_MINI = {
    # PR 862: one whole file, functions for _filecheck.py and testing.py through providers; a new
    # directory without __init__.py; a sub-package that brings only what differs
    'iluvatar': seed_view(
        'iluvatar',
        files=[python('iluvatar', '''
            backends/compiler.py
            experimental/gluon/iluvatar/_layouts.py
            experimental/gluon/language/__init__.py
            experimental/gluon/language/_core.py
        ''')],
        more_grafts={
            'python/triton/backends/iluvatar': 'third_party/iluvatar/backend',
            'python/triton/spec/iluvatar': 'third_party/iluvatar/spec',
        }),

    # PR 687: whole files of tools/, functions for language/__init__.py, compiler/__init__.py and
    # _utils.py through providers, a whole sub-package
    'mthreads': seed_view(
        'mthreads',
        files=[python('mthreads', '''
            experimental/gluon/language/__init__.py
            experimental/gluon/language/_core.py
            experimental/gluon/language/_layouts.py
            experimental/gluon/language/_musa.py
            experimental/gluon/language/amd/__init__.py
            experimental/gluon/language/amd/cdna4/__init__.py
            experimental/gluon/language/extra/__init__.py
            experimental/gluon/language/nvidia/__init__.py
            experimental/gluon/language/nvidia/ampere/__init__.py
            experimental/gluon/language/nvidia/blackwell/__init__.py
            experimental/gluon/language/nvidia/hopper/__init__.py
            language/standard.py
            tools/compile.py
            tools/link.py
            tools/ragged_tma.py
        ''')],
        more_grafts={
            'python/triton/backends/mthreads': 'third_party/mthreads/backend',
            'python/triton/spec/mthreads': 'third_party/mthreads/spec',
        },
        links={
            'python/triton/language/extra/musa': 'third_party/mthreads/language/musa',
            'python/triton/tools/extra/musa': 'third_party/mthreads/tools/musa',
        }),

    # PR 940: .td, headers and sources. No Python specialization, so no python/triton/spec/enflame.
    'enflame': seed_view(
        'enflame',
        files=[cpp('enflame', '''
            include/triton/Dialect/Triton/IR/TritonOpInterfaces.td
            include/triton/Dialect/TritonGPU/Transforms/GcuPasses.h
            include/triton/Dialect/TritonGPU/Transforms/Passes.h
            include/triton/Dialect/TritonGPU/Transforms/Passes.td
            lib/Conversion/TritonGPUToLLVM/FuncOpToLLVM.cpp
            lib/Dialect/TritonGPU/IR/Ops.cpp
            lib/Dialect/TritonGPU/IR/OpsDetail.h
        ''')],
        more_grafts={'python/triton/backends/enflame': 'third_party/enflame/backend'},
        links={'python/triton/language/extra/gcu': 'third_party/enflame/language/gcu'},
        build={
            f'{FUNC_OP}': 'enflame',
            f'{FUNC_OP} + Passes.h': 'enflame',
            f'{OPS} + TritonOps.td AddOp base': 'enflame',
            f'{OPS} + TritonOpInterfaces.td LoadLike': 'enflame',
            f'{OPS} + TritonOpInterfaces.td LoadLike base': 'enflame',
            f'{GPU_OPS}': 'enflame',
            f'{GPU_OPS} + OpsDetail.h': 'enflame',
            f'{GPU_OPS} + TritonGPUOps.td ConvertLayoutOp base': 'enflame',
            f'{COALESCE} + Passes.h': 'enflame',
            f'{COALESCE} + Passes.td Coalesce': 'enflame',
        },
        # the root of that TableGen run is chosen with plain set(): including files get the spec
        # file, its own output comes from the trunk's
        native={
            f'{OPS} + TritonOpInterfaces.td LoadLike': 'trunk',
            f'{OPS} + TritonOpInterfaces.td LoadLike base': 'trunk',
        }),

    # PR 843: one source of python/src, and a header that other sources of the trunk include
    'ppu': seed_view(
        'ppu',
        files=[python_src('ppu', 'gluon_ir.cc ir.h')],
        more_grafts={'python/triton/spec/ppu': 'third_party/ppu/spec'},
        build={
            'python/src/gluon_ir.cc': 'ppu',
            'python/src/gluon_ir.cc + ir.h': 'ppu',
            'python/src/ir.cc + ir.h': 'ppu',
        },
        # "ir.h" in quotes: the trunk's ir.cc finds the trunk's header beside itself
        native={'python/src/ir.cc + ir.h': 'trunk'}),

    # links in the backend's python/src that lead back to the trunk's: the same bytes, no loop
    'xpu': seed_view(
        'xpu',
        files=[{
            'python/src/passes.cc': 'third_party/xpu/python/src/passes.cc',
            'python/src/ir.h': 'python/src/ir.h',
            'python/src/gluon_ir.cc': 'python/src/gluon_ir.cc',
        }],
        build={'python/src/passes.cc': 'xpu'}),

    # a file at every place of the seed's permission tree. Not in this list, so not to be seen:
    # everything at the top (providers), experimental/*.py, experimental/tle/** (never specialized),
    # the __init__.py of backends, compiler, experimental/gluon, language, runtime, tools, and a
    # CMakeLists.txt in spec_cpp/lib
    'everywhere': seed_view(
        'everywhere',
        files=[
            python('everywhere', '''
                backends/compiler.py
                backends/driver.py
                backends/extra_backend.py
                compiler/code_generator.py
                compiler/compiler.py
                compiler/errors.py
                compiler/extra_pass.py
                experimental/gluon/_compiler.py
                experimental/gluon/_runtime.py
                experimental/gluon/extra_gluon.py
                experimental/gluon/amd/__init__.py
                experimental/gluon/amd/gfx1250.py
                experimental/gluon/language/__init__.py
                experimental/gluon/language/_core.py
                experimental/gluon/language/_layouts.py
                experimental/gluon/language/amd/__init__.py
                experimental/gluon/language/amd/cdna4/__init__.py
                experimental/gluon/language/extra/__init__.py
                experimental/gluon/language/nvidia/__init__.py
                experimental/gluon/language/nvidia/ampere/__init__.py
                experimental/gluon/language/nvidia/blackwell/__init__.py
                experimental/gluon/language/nvidia/hopper/__init__.py
                experimental/gluon/nvidia/__init__.py
                experimental/gluon/nvidia/blackwell.py
                experimental/gluon/nvidia/hopper.py
                language/core.py
                language/extra/__init__.py
                language/extra/libdevice.py
                language/extra_language.py
                language/semantic.py
                language/standard.py
                runtime/cache.py
                runtime/driver.py
                runtime/extra_runtime.py
                runtime/jit.py
                tools/compile.py
                tools/disasm.py
                tools/extra_tool.py
                tools/link.py
                tools/ragged_tma.py
            '''),
            cpp('everywhere', '''
                include/triton/Analysis/Allocation.h
                include/triton/Dialect/Triton/IR/TritonOps.td
                include/triton/Dialect/TritonGPU/Transforms/PassBase.td
                include/triton/Tools/Layout.hpp
                lib/Analysis/Allocation.cpp
                lib/Tools/Cabi.c
                lib/Tools/Format.cc
                lib/Tools/Layout.cxx
            '''),
            python_src('everywhere', 'passes.cc passes.h'),
        ],
        more_grafts={'python/triton/spec/everywhere': 'third_party/everywhere/spec'},
        build={
            'lib/Analysis/Allocation.cpp': 'everywhere',
            'lib/Analysis/Allocation.cpp + Allocation.h': 'everywhere',
            'lib/Analysis/Membar.cpp + Membar.h > Allocation.h': 'everywhere',
            f'{OPS} + TritonOps.td AddOp': 'everywhere',
            f'{COALESCE} + Passes.td Coalesce base': 'everywhere',
            'lib/Tools/Cabi.c': 'everywhere',
            'lib/Tools/Format.cc': 'everywhere',
            'lib/Tools/Layout.cxx': 'everywhere',
            'lib/Tools/Layout.cxx + Layout.hpp': 'everywhere',
            'python/src/passes.cc': 'everywhere',
            'python/src/passes.cc + passes.h': 'everywhere',
        },
        # "Allocation.h" in quotes, from Membar.h beside it
        native={'lib/Analysis/Membar.cpp + Membar.h > Allocation.h': 'trunk'}),

    # a backend with nothing specialized: only its links
    'nvidia': seed_view(
        'nvidia',
        more_grafts={'python/triton/backends/nvidia': 'third_party/nvidia/backend'},
        links={
            'python/triton/language/extra/cuda': 'third_party/nvidia/language/cuda',
            'python/triton/tools/extra/cuda': 'third_party/nvidia/tools/cuda',
        }),
}


def backend_spec_view(backend, python_names, cpp_names, src_names='', absent=(), build=(), native=()):
    base = f'third_party/{backend}/backend/spec'
    files = place('python/triton', f'{base}/triton', python_names)
    files.update({path.removeprefix('./'): origin for path, origin in place('.', base, cpp_names).items()})
    files.update(python_src(backend, src_names))
    return {
        'files': files,
        'grafts': {f'python/triton/backends/{backend}': f'third_party/{backend}/backend'},
        'links': {},
        'content': {'python/triton/FLAGTREE_BACKEND': backend.encode()},
        'absent': list(absent),
        'build': dict(build),
        'native': dict(native),
    }


BACKEND_SPEC_MINI = {
    # newer: spec/lib has no CMakeLists.txt, its sources are seen in the place of the trunk's
    'mthreads': backend_spec_view(
        'mthreads',
        'language/standard.py tools/compile.py runtime/musa_launcher.py',
        '''
            include/triton/Analysis/Allocation.h
            include/triton/Dialect/Triton/IR/TritonOps.td
            lib/Analysis/Allocation.cpp
        ''',
        build={
            f'{OPS} + TritonOps.td': 'mthreads',
            'lib/Analysis/Allocation.cpp': 'mthreads',
            'lib/Analysis/Allocation.cpp + Allocation.h': 'mthreads',
        }),

    # older: spec/lib is a project of its own (CMakeLists.txt) that is built beside the trunk's lib,
    # so nothing of lib may be hidden. FlagTree's CMake takes the backend's python/src as a whole;
    # the view shows its files, and the trunk's others beside them
    'sunrise': backend_spec_view(
        'sunrise',
        'language/core.py',
        'include/flagtree_spec.h include/triton/Dialect/Triton/IR/TritonOps.td',
        src_names='main.cc ir.cc',
        build={
            f'{OPS} + TritonOps.td': 'sunrise',
            f'{OPS} + AddOp': 'sunrise',
            'python/src/ir.cc': 'sunrise',
            'python/src/ir.cc + ir.h': None,
            'python/src/main.cc': 'sunrise',
        }),
}

VIEWS = {'flagtree-mini': FLAGTREE_MINI, 'backend-spec-mini': BACKEND_SPEC_MINI}

# What the program built from an unspecialized checkout says, line by line.
BUILD_LINES = {
    'flagtree-mini': '''
        lib/Analysis/Allocation.cpp
        lib/Analysis/Allocation.cpp + Allocation.h
        lib/Analysis/Membar.cpp
        lib/Analysis/Membar.cpp + Membar.h
        lib/Analysis/Membar.cpp + Membar.h > Allocation.h
        lib/Conversion/TritonGPUToLLVM/FuncOpToLLVM.cpp
        lib/Conversion/TritonGPUToLLVM/FuncOpToLLVM.cpp + Passes.h
        lib/Dialect/Triton/IR/Ops.cpp
        lib/Dialect/Triton/IR/Ops.cpp + Dialect.h
        lib/Dialect/Triton/IR/Ops.cpp + TritonOps.td AddOp
        lib/Dialect/Triton/IR/Ops.cpp + TritonOps.td AddOp base
        lib/Dialect/Triton/IR/Ops.cpp + TritonOpInterfaces.td LoadLike
        lib/Dialect/Triton/IR/Ops.cpp + TritonOpInterfaces.td LoadLike base
        lib/Dialect/TritonGPU/IR/Dialect.cpp
        lib/Dialect/TritonGPU/IR/Dialect.cpp + Dialect.h
        lib/Dialect/TritonGPU/IR/Ops.cpp
        lib/Dialect/TritonGPU/IR/Ops.cpp + TritonGPUOps.td ConvertLayoutOp
        lib/Dialect/TritonGPU/IR/Ops.cpp + TritonGPUOps.td ConvertLayoutOp base
        lib/Dialect/TritonGPU/Transforms/Coalesce.cpp
        lib/Dialect/TritonGPU/Transforms/Coalesce.cpp + Passes.h
        lib/Dialect/TritonGPU/Transforms/Coalesce.cpp + Passes.td Coalesce
        lib/Dialect/TritonGPU/Transforms/Coalesce.cpp + Passes.td Coalesce base
        lib/Tools/Cabi.c
        lib/Tools/Format.cc
        lib/Tools/Layout.cxx
        lib/Tools/Layout.cxx + Layout.hpp
        python/src/ir.cc
        python/src/ir.cc + ir.h
        python/src/passes.cc
        python/src/passes.cc + passes.h
        python/src/gluon_ir.cc
        python/src/gluon_ir.cc + ir.h
        python/src/interpreter.cc
    ''',
    'backend-spec-mini': '''
        lib/Dialect/Triton/IR/Ops.cpp
        lib/Dialect/Triton/IR/Ops.cpp + TritonOps.td
        lib/Dialect/Triton/IR/Ops.cpp + AddOp
        lib/Analysis/Allocation.cpp
        lib/Analysis/Allocation.cpp + Allocation.h
        python/src/ir.cc
        python/src/ir.cc + ir.h
        python/src/main.cc
    ''',
}


def build_output(tree, backend=None, native=False):
    """{line: variant} that the built program must print; @native: as FlagTree's own CMake builds it."""
    lines = {line.strip(): 'trunk' for line in BUILD_LINES[tree].strip().splitlines()}
    if backend:
        lines.update(VIEWS[tree][backend]['build'])
        if native:
            lines.update(VIEWS[tree][backend]['native'])
    return {line: variant for line, variant in lines.items() if variant is not None}


# What FlagTree's configure says about overridden sources, in this order (the seed shows enflame's).
SPEC_LINES = {
    'enflame': [
        'SPEC: lib/Conversion/TritonGPUToLLVM/FuncOpToLLVM.cpp -> TritonGPUToLLVM',
        'SPEC: lib/Dialect/TritonGPU/IR/Ops.cpp -> TritonGPUIR',
    ],
    'everywhere': [
        'SPEC: lib/Analysis/Allocation.cpp -> TritonAnalysis',
        'SPEC: lib/Tools/Cabi.c -> TritonTools',
        'SPEC: lib/Tools/Format.cc -> TritonTools',
        'SPEC: lib/Tools/Layout.cxx -> TritonTools',
    ],
}

# Results of the hooked trunk's functions (tests/mount/lib/probe.py says how each is asked for).
HOOKS = {
    '': {
        'run_parser': ['trunk:src', ['cuda', 100, 32]],
        'nvsmi': ['trunk', 'trunk'],
        'get_max_tensorcore_tflops': ['trunk', 'f16'],
        'apply_with_path': None,
        'squeeze': None,
        'unsqueeze': None,
        'musa_compile': None,
        'semantic_create_load': None,
        'no_such_name': None,
    },
}


def hooks(**changed):
    return {**HOOKS[''], **changed}


HOOKS.update({
    'iluvatar': hooks(run_parser=['iluvatar:src', ['cuda', 100, 32]], nvsmi=['iluvatar', 'iluvatar'],
                      get_max_tensorcore_tflops=['iluvatar', 'f16'], semantic_create_load=['iluvatar', 'p']),
    'mthreads': hooks(run_parser=['trunk:src', ['musa', 31, 32]], apply_with_path=[[], 'value'],
                      squeeze=['squeeze', 'x'], unsqueeze=['unsqueeze', 'x'], musa_compile='mthreads'),
    'ppu': hooks(run_parser=['trunk:src', ['ppu', 1, 32]]),
    'everywhere': hooks(nvsmi=['everywhere', 'everywhere']),
    'enflame': hooks(),
    'xpu': hooks(),
    'nvidia': hooks(),
})
