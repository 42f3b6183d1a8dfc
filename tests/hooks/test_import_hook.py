# SPDX-License-Identifier: MIT
"""The import hook: a trunk that asks for nothing gets a backend's functions all the same."""
import os
import unittest

from trees import EXTENSION, TreeTest

# A trunk that knows of no backend.
TRUNK = {
    "__init__.py": """
        from . import testing, language, user
        def version(): return "trunk version"
    """,
    "testing.py": """
        import functools
        LIMIT = 3
        class Mark: pass
        def nvsmi(attrs): return "trunk nvsmi"
        def tflops(): return "trunk tflops"
        @functools.lru_cache()
        def cached(): return "trunk cached"
        def both(): return nvsmi([]), tflops()
    """,
    "user.py": """
        from triton.testing import nvsmi, both
        from triton.language import load
        def use(): return nvsmi([]), both(), load()
    """,
    "language/__init__.py": """
        from .core import core_name
        def load(): return "trunk load"
    """,
    "language/core.py": "def core_name(): return 'trunk core'",
}

DEMO = {
    "testing.py": "def nvsmi(attrs): return 'demo nvsmi'",
    "language/__init__.py": "def load(): return 'demo load'",
}

USE = "import triton.user\nprint(*triton.user.use())\n"
PLAIN = "trunk nvsmi ('trunk nvsmi', 'trunk tflops') trunk load"
BOUND = "demo nvsmi ('demo nvsmi', 'trunk tflops') demo load"


class HookTest(TreeTest):
    def bare(self, files, boot=True, **more):
        tree = self.tree()
        tree.write({**TRUNK, **more})
        if boot:
            tree.supply("__init__")
        tree.backend("demo", files)
        tree.choose("demo")
        return tree


class Bind(HookTest):
    def test_functions_are_bound_wherever_they_are_used(self):
        self.assertEqual(self.out(self.bare(DEMO), USE), BOUND)

    def test_without_the_switch_nothing_is(self):
        self.assertEqual(self.out(self.bare(DEMO, boot=False), USE), PLAIN)

    def test_without_backend_nothing_is(self):
        tree = self.bare(DEMO)
        tree.choose("")
        self.assertEqual(self.out(tree, USE), PLAIN)
        os.unlink(os.path.join(tree.package, "FLAGTREE_BACKEND"))
        self.assertEqual(self.out(tree, USE), PLAIN)

    def test_environment_switches_it_off(self):
        self.assertEqual(self.out(self.bare(DEMO), USE, SPECFS_IMPORT_HOOK="0"), PLAIN)

    def test_a_program_can_switch_it_on_and_off(self):
        tree = self.bare(DEMO, boot=False)
        code = f"""
import sys
sys.path.insert(0, {os.path.dirname(EXTENSION)!r})
import _flagtree_spec
_flagtree_spec.install_import_hook()
_flagtree_spec.install_import_hook()
print(sys.meta_path.count(_flagtree_spec))
"""
        self.assertEqual(self.out(tree, code + USE), "1\n" + BOUND)
        self.assertEqual(self.out(tree, code + """
_flagtree_spec.remove_import_hook()
_flagtree_spec.remove_import_hook()
print(_flagtree_spec in sys.meta_path)
""" + USE), "1\nFalse\n" + PLAIN)

    def test_package_looks_like_itself(self):
        tree = self.bare(DEMO)
        self.assertEqual(self.out(tree, f"""
import importlib.machinery, inspect, os, triton, triton.testing
source = {tree.package!r} + "/__init__.py"
assert triton.__file__ == source == triton.__spec__.origin, triton.__file__
assert triton.__cached__ == triton.__spec__.cached
assert list(triton.__path__) == [os.path.dirname(source)]
assert "version" in inspect.getsource(triton)
for m in triton, triton.testing:
    assert type(m.__loader__) is importlib.machinery.SourceFileLoader
    assert m.__loader__ is m.__spec__.loader and not m.__spec__._initializing
print(triton.version(), "LIMIT = 3" in inspect.getsource(triton.testing))
        """), "trunk version True")

    def test_only_functions_that_both_define(self):
        tree = self.bare({"testing.py": """
            import functools
            from os.path import join as tflops
            LIMIT = 4
            class Mark: pass
            def nvsmi(attrs): return "demo nvsmi"
            def fresh(): return "new"
            @functools.lru_cache()
            def cached(): return "demo cached"
            def __getattr__(name): raise AttributeError(name)
        """})
        self.assertEqual(self.out(tree, """
import triton.testing as t
print(t.nvsmi([]), t.tflops(), t.cached(), t.LIMIT, t.Mark.__module__, hasattr(t, "fresh"),
      "__getattr__" in vars(t))
        """), "demo nvsmi trunk tflops demo cached 3 triton.testing False False")

    def test_provider_as_a_package_and_for_the_root(self):
        tree = self.bare({"testing/__init__.py": "from .part import *\n"
                                                 "def tflops(): return 'demo tflops'",
                          "testing/part.py": "def nvsmi(attrs): return 'no provider'",
                          "__init__.py": "def version(): return 'demo version'"})
        self.assertEqual(self.out(tree, "import triton\nprint(triton.testing.both(),"
                                        "triton.version())"),
                         "('trunk nvsmi', 'demo tflops') demo version")

    def test_file_below_a_package_is_no_provider(self):
        tree = self.bare({"language/core.py": "1 / 0"})
        self.assertEqual(self.out(tree, "import triton\nprint(triton.language.core_name())"),
                         "trunk core")

    def test_file_that_is_the_module_itself_is_not_loaded_twice(self):
        tree = self.bare({})
        os.makedirs(os.path.join(tree.package, "spec/demo/triton"))
        os.link(os.path.join(tree.package, "testing.py"),
                os.path.join(tree.package, "spec/demo/triton/testing.py"))
        self.assertEqual(self.out(tree, USE + """
import sys
print([m for m in sys.modules if m.startswith("triton.spec")])
        """), PLAIN + "\n[]")

    def test_older_place(self):
        tree = self.tree()
        tree.write({**TRUNK, "backends/__init__.py": ""})
        tree.supply("__init__")
        tree.backend("demo", DEMO, "backends/{}/spec/triton")
        tree.choose("demo")
        self.assertEqual(self.out(tree, USE), BOUND)

    def test_beside_a_trunks_own_hooks(self):
        tree = self.bare({**DEMO, "__init__.py": "def asked(): return 'asked'"},
                         **{"_flagtree_spec.py": """
            import importlib
            def spec_call(name):
                return getattr(importlib.import_module("triton.spec.demo.triton"), name)()
        """, "asks.py": "from triton._flagtree_spec import spec_call\nx = spec_call('asked')"})
        self.assertEqual(self.out(tree, USE + "import triton.asks\nprint(triton.asks.x)"),
                         BOUND + "\nasked")

    def test_trace_names_what_was_bound_and_what_not(self):
        tree = self.bare({"testing.py": "def nvsmi(attrs): pass\ndef fresh(): pass\n"
                                        "def LIMIT(): pass"})
        err = self.tree_err(tree)
        self.assertIn("specfs: hooks: 'triton.testing:nvsmi': bound\n", err)
        self.assertIn("specfs: hooks: 'triton.testing:fresh': not bound: not in the trunk\n", err)
        self.assertIn("'triton.testing:LIMIT': not bound: no function in the trunk\n", err)

    def tree_err(self, tree):
        done = tree.run("import triton", SPECFS_TRACE="hooks")
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr


class Order(HookTest):
    PROVIDER_IMPORTS_TRUNK = {"testing.py": """
        import triton.testing
        from triton.testing import nvsmi as trunk_nvsmi
        def nvsmi(attrs): return "demo over " + trunk_nvsmi(attrs)
    """}

    def test_provider_that_imports_its_trunk_module(self):
        tree = self.bare(self.PROVIDER_IMPORTS_TRUNK)
        for first in ("triton.testing", "triton.spec.demo.triton.testing", "triton.user"):
            self.assertEqual(self.out(tree, f"""
import {first}, triton.testing
print(triton.testing.nvsmi([]), triton.user.nvsmi([]))
            """), "demo over trunk nvsmi demo over trunk nvsmi", first)

    def test_provider_that_imports_its_trunk_module_first_of_all(self):
        tree = self.bare(self.PROVIDER_IMPORTS_TRUNK, **{"__init__.py": ""})
        for first in ("triton.testing", "triton.spec.demo.triton.testing"):
            self.assertEqual(self.out(tree, f"""
import {first}, triton.testing
print(triton.testing.nvsmi([]))
            """), "demo over trunk nvsmi", first)

    def test_trunk_module_that_has_its_provider_imported(self):
        tree = self.bare(self.PROVIDER_IMPORTS_TRUNK, **{"__init__.py": "", "testing.py": """
            def nvsmi(attrs): return "trunk nvsmi"
            import triton.spec.demo.triton.testing as p
            seen = nvsmi([])
        """})
        self.assertEqual(self.out(tree, """
import triton.testing as t
print(t.seen, "|", t.nvsmi([]))
        """), "trunk nvsmi | demo over trunk nvsmi")

    def test_provider_that_needs_more_of_the_trunk_waits_for_it(self):
        tree = self.bare({"testing.py": """
            from triton.language import load
            def nvsmi(attrs): return "demo with " + load()
        """}, **{"language/__init__.py": """
            from . import core
            import triton.testing
            early = triton.testing.nvsmi([])
            def load(): return "trunk load"
        """, "__init__.py": "from . import language, user"})
        self.assertEqual(self.out(tree, """
import triton
print(triton.language.early, "|", triton.testing.nvsmi([]), "|", triton.user.nvsmi([]))
        """), "trunk nvsmi | demo with trunk load | demo with trunk load")

    def test_provider_that_waits_in_vain_is_broken(self):
        tree = self.bare({"testing.py": "import no_such_module_x"})
        done = tree.run("import triton")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("spec/demo/triton/testing.py' of backend 'demo' is broken: "
                      "ModuleNotFoundError: No module named 'no_such_module_x'", done.stderr)
        self.assertEqual(self.out(tree, USE, FLAGTREE_SPEC_LENIENT="1"), PLAIN)

    def test_broken_provider_is_named_at_once_after_the_trunks_import(self):
        tree = self.bare({"late.py": "1 / 0", "later.py": "import no_such_module_x"},
                         **{"late.py": "x = 1", "later.py": "x = 2"})
        self.assertEqual(self.out(tree, """
import triton
for name in "late", "later":
    try:
        __import__("triton." + name)
    except ImportError as e:
        print(type(e.__cause__).__name__, e.path.rsplit("/", 1)[1])
        """), "ZeroDivisionError late.py\nModuleNotFoundError later.py")

    def test_failed_import_of_the_trunk_can_be_repeated(self):
        tree = self.bare(DEMO, **{"user.py": "1 / 0"})
        self.assertEqual(self.out(tree, f"""
try:
    import triton
except ZeroDivisionError:
    print("failed")
open({tree.package!r} + "/user.py", "w").write("from triton.testing import nvsmi as use")
import importlib; importlib.invalidate_caches()
import triton.user
print(triton.user.use([]), triton.__file__.rsplit("/", 1)[1])
        """), "failed\ndemo nvsmi __init__.py")

    def test_reload_of_trunk_provider_and_package(self):
        tree = self.bare({**DEMO, "__init__.py": "def version(): return 'demo version'"})
        self.assertEqual(self.out(tree, """
import importlib, triton, triton.testing as t
importlib.reload(t)
print(t.nvsmi([]), t.both())
t.nvsmi = None
def fake(attrs): pass
t.nvsmi = fake
importlib.reload(importlib.import_module("triton.spec.demo.triton.testing"))
print(t.nvsmi([]))
triton.version = None
importlib.reload(triton)
print(triton.version(), triton.__file__.rsplit("/", 1)[1])
        """), "demo nvsmi ('demo nvsmi', 'trunk tflops')\ndemo nvsmi\ndemo version __init__.py")

    def test_threads_import_at_once(self):
        modules = {f"m{i}.py": f"def f(): return 'trunk {i}'" for i in range(40)}
        demo = {f"m{i}.py": f"import triton.m{(i + 1) % 40}\ndef f(): return 'demo {i}'"
                for i in range(40)}
        tree = self.bare(demo, **modules)
        self.assertEqual(self.out(tree, """
import importlib, random, threading, triton
start, wrong = threading.Barrier(8), []
def work(seed):
    order = list(range(40))
    random.Random(seed).shuffle(order)
    start.wait()
    for i in order:
        importlib.import_module(f"triton.m{i}")
threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
[t.start() for t in threads]
[t.join() for t in threads]
print(sum(getattr(triton, f"m{i}").f() == f"demo {i}" for i in range(40)))
        """), "40")

    def test_from_subprocesses(self):
        tree = self.bare(DEMO)
        self.assertEqual(self.out(tree, f"""
import os, subprocess, sys
print(subprocess.check_output([sys.executable, "-c", {USE!r}], text=True), end="")
import triton.testing
pid = os.fork()
if pid == 0:
    import triton.user
    os._exit(0 if triton.user.use()[0] == "demo nvsmi" else 1)
print(os.waitpid(pid, 0)[1])
        """), BOUND + "\n0")

    def test_as_a_program_of_the_package(self):
        tree = self.bare(DEMO, **{"tool.py": "from triton.testing import nvsmi\n"
                                             "print(__name__, nvsmi([]))"})
        self.assertEqual(self.out(tree, """
import runpy
runpy.run_module("triton.tool", run_name="__main__", alter_sys=True)
        """), "__main__ demo nvsmi")


class Loaders(HookTest):
    def test_loader_shared_by_modules(self):
        tree = self.bare({"zipped.py": "def f(): return 'demo'",
                          "zipped2.py": "def f(): return 'demo 2'"})
        done = tree.run("""
import os, sys, zipfile, zipimport, triton
archive = os.path.abspath("more.zip")
with zipfile.ZipFile(archive, "w") as z:
    z.writestr("zipped.py", "def f(): return 'trunk'")
    z.writestr("zipped2.py", "def f(): return 'trunk 2'")
    z.writestr("plain.py", "def f(): return 'trunk 3'")
triton.__path__.append(archive)
if not hasattr(zipimport.zipimporter, "exec_module"):
    sys.exit("too old")
import triton.zipped, triton.zipped2, triton.plain
print(triton.zipped.f(), "|", triton.zipped2.f(), "|", triton.plain.f())
        """)
        if "too old" in done.stderr:
            self.skipTest("zipimport has no exec_module before Python 3.10")
        self.assertEqual(done.stdout, "demo | demo 2 | trunk 3\n", done.stderr)

    def test_other_finders_are_asked_and_absent_modules_stay_absent(self):
        tree = self.bare(DEMO)
        self.assertEqual(self.out(tree, """
import importlib.abc, importlib.util, sys, triton
class Made(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path, target=None):
        return importlib.util.spec_from_loader(name, self) if name == "triton.made" else None
    def create_module(self, spec): return None
    def exec_module(self, module): module.made = True
sys.meta_path.append(Made())
import triton.made
print(triton.made.made, importlib.util.find_spec("triton.absent"),
      importlib.util.find_spec("triton.testing").name)
try:
    import triton.absent
except ModuleNotFoundError as e:
    print(e)
        """), "True None triton.testing\nNo module named 'triton.absent'")


if __name__ == "__main__":
    unittest.main()
