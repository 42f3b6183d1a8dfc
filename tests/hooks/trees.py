# SPDX-License-Identifier: MIT
"""A trunk with its backends in a temporary directory, and children that import it.

The environment variable SPECFS_PYTHON_EXT is the path of the built extension. SPECFS_TEST_PYTHON
is the interpreter of the children; by default the one that runs the tests.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

EXTENSION = os.environ["SPECFS_PYTHON_EXT"]
PYTHON = os.environ.get("SPECFS_TEST_PYTHON", sys.executable)

# Reads the marker as FlagTree's module of that name does.
BACKEND_MODULE = """
    import os
    _marker = os.path.join(os.path.dirname(__file__), "FLAGTREE_BACKEND")
    try:
        with open(_marker) as _f:
            FLAGTREE_BACKEND = _f.read().strip()
    except FileNotFoundError:
        FLAGTREE_BACKEND = ""
"""

# The trunk as the seed has it: each case of spec_call and spec_func at its place.
TRUNK = {
    "__init__.py": """
        from . import _utils, language, testing, _filecheck
    """,
    "_flagtree_backend.py": BACKEND_MODULE,
    "_utils.py": """
        from triton._flagtree_spec import spec_func

        def trunk_util():
            return "trunk"

        apply_with_path = spec_func("apply_with_path")
    """,
    "_filecheck.py": """
        from triton._flagtree_spec import spec_call

        def run_parser(src):
            module = spec_call("filecheck_make_ir", src, "target", options={}, codegen_fns=None)
            if module is None:
                module = "trunk ir of " + src
            target = spec_call("spec_get_stub_target")
            if not target:
                target = ("cuda", 100, 32)
            return module, target
    """,
    "testing.py": """
        from triton._flagtree_spec import spec_func

        def nvsmi(attrs):
            return "trunk nvsmi"

        def get_max_tensorcore_tflops(dtype, clock_rate, device=None):
            return "trunk tflops"

        def both():
            return nvsmi([]), get_max_tensorcore_tflops(None, 1)

        nvsmi = spec_func("nvsmi") or nvsmi
        get_max_tensorcore_tflops = (spec_func("get_max_tensorcore_tflops")
                                     or get_max_tensorcore_tflops)
    """,
    "language/__init__.py": """
        from triton._flagtree_spec import spec_call, spec_path
        spec_path(__path__)
        from . import core
        spec_call("language_extend_globals", globals())
        __all__ = ["core"]
    """,
    "language/core.py": "name = 'trunk core'",
    "language/standard.py": """
        def squeeze(x):
            return ("squeeze", x)

        def unsqueeze(x):
            return ("unsqueeze", x)
    """,
}

ILUVATAR = {
    "__init__.py": """
        from ._filecheck import filecheck_make_ir
        from .testing import get_max_tensorcore_tflops, nvsmi
    """,
    "_filecheck.py": """
        def filecheck_make_ir(src, target, options, codegen_fns):
            return "iluvatar ir of " + src
    """,
    "testing.py": """
        def get_max_tensorcore_tflops(dtype, clock_rate, device=None):
            return "iluvatar tflops"

        def nvsmi(attrs):
            return "iluvatar nvsmi"
    """,
}

MTHREADS = {
    "__init__.py": """
        from ._filecheck import spec_get_stub_target
        from ._utils import apply_with_path
        from .language import language_extend_globals
    """,
    "_filecheck.py": """
        def spec_get_stub_target():
            return ("musa", 31, 32)
    """,
    "_utils.py": """
        def apply_with_path(value, fn, path=None):
            return ("mthreads", fn(value))
    """,
    "language/__init__.py": """
        def language_extend_globals(globals_dict):
            from triton.language.standard import squeeze, unsqueeze
            globals_dict["squeeze"] = squeeze
            globals_dict["unsqueeze"] = unsqueeze
    """,
    "language/core.py": "name = 'mthreads core'",
}


class Tree:
    """A checkout: the trunk's package is `package`, its parent goes into PYTHONPATH."""

    def __init__(self, above="checkout"):
        self.top = tempfile.mkdtemp(prefix="specfs-hooks-")
        self.python = os.path.join(self.top, above, "python")
        self.package = os.path.join(self.python, "triton")
        os.makedirs(self.package)

    def close(self):
        shutil.rmtree(self.top)

    def write(self, files, under=""):
        for name, text in files.items():
            path = os.path.join(self.package, under, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as f:
                f.write(textwrap.dedent(text))

    def backend(self, name, files, place="spec/{}/triton"):
        self.write(files, place.format(name))

    def choose(self, name):
        self.write({"FLAGTREE_BACKEND": name + "\n"})

    def supply(self, stem="_flagtree_spec"):
        """Place the extension as a view does; "__init__" switches the import hook on."""
        suffix = os.path.basename(EXTENSION).split(".", 1)[1]
        shutil.copy(EXTENSION, os.path.join(self.package, stem + "." + suffix))

    def run(self, code, **env):
        """Run code in a child; returns it finished, with stdout and stderr as text."""
        environ = {k: v for k, v in os.environ.items()
                   if not k.startswith(("SPECFS_TRACE", "SPECFS_HOOKS", "SPECFS_IMPORT",
                                        "FLAGTREE", "PYTHON"))}
        environ.update(PYTHONPATH=self.python, PYTHONDONTWRITEBYTECODE="1", **env)
        return subprocess.run([PYTHON, "-c", textwrap.dedent(code)], env=environ, text=True,
                              cwd=self.top, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=120)


class TreeTest(unittest.TestCase):
    def tree(self, above="checkout"):
        tree = Tree(above)
        self.addCleanup(tree.close)
        return tree

    def seed(self, backend=None, files=None, above="checkout"):
        """The seed's trunk with the extension and, if one is named, a chosen backend."""
        tree = self.tree(above)
        tree.write(TRUNK)
        tree.supply()
        if backend:
            tree.backend(backend, files)
            tree.choose(backend)
        return tree

    def out(self, tree, code, **env):
        """stdout of code, which has to succeed, without the last line's end."""
        done = tree.run(code, **env)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.rstrip("\n")
