# SPDX-License-Identifier: MIT
"""The functions of _flagtree_spec one by one: results, failures, trace."""
import unittest

from trees import TreeTest

ASK = "from triton._flagtree_spec import spec_path, spec_call, spec_func, spec\n"


class Lookup(TreeTest):
    def provided(self, init, name="demo", **more):
        tree = self.tree()
        tree.write({"__init__.py": ""})
        tree.supply()
        tree.backend(name, {"__init__.py": init, **more})
        tree.choose(name)
        return tree

    def test_without_backend_nothing_is_specialized(self):
        tree = self.tree()
        tree.write({"__init__.py": ""})
        tree.supply()
        self.assertEqual(self.out(tree, ASK + """
p = ["/a/b"]
print(spec_func("f"), spec_call("f", 1, x=2), spec("f"), spec_path(p), p)
        """), "None None None None ['/a/b']")

    def test_empty_marker_is_no_backend(self):
        tree = self.provided("def f(): return 1")
        tree.choose("")
        self.assertEqual(self.out(tree, ASK + "print(spec_func('f'))"), "None")

    def test_chosen_backend_without_provider_gives_none(self):
        tree = self.provided("def f(): return 1")
        tree.choose("other")
        self.assertEqual(self.out(tree, ASK + "print(spec_func('f'), spec_call('f'))"),
                         "None None")

    def test_directory_without_init_gives_none(self):
        tree = self.tree()
        tree.write({"__init__.py": "", "spec/demo/triton/other.py": ""})
        tree.supply()
        tree.choose("demo")
        self.assertEqual(self.out(tree, ASK + "print(spec_func('f'))"), "None")

    def test_found_names_are_the_providers_objects(self):
        tree = self.provided("def f(*a, **k): return a, k\nCONST = 3\nNOTHING = None")
        self.assertEqual(self.out(tree, ASK + """
import triton.spec.demo.triton as provider
assert spec_func("f") is provider.f
assert spec_func("CONST") == 3 and spec_func("NOTHING") is None
assert spec_func("__name__") == "triton.spec.demo.triton"
assert spec_func("__class__") is type(provider)
assert spec_func("g") is None and spec_func("") is None and spec_func("_g") is None
print(spec_call("f"), spec_call("f", 1, 2), spec("f", 1, b=2), spec_call("f", function=4))
        """), "((), {}) ((1, 2), {}) ((1,), {'b': 2}) ((), {'function': 4})")

    def test_name_may_be_a_keyword(self):
        tree = self.provided("def f(*a, **k): return a, k")
        self.assertEqual(self.out(tree, ASK + """
print(spec_func(function_name="f") is spec_func("f"), spec_call(function_name="f", x=1))
        """), "True ((), {'x': 1})")

    def test_wrong_arguments_are_type_errors(self):
        tree = self.provided("def f(): pass")
        self.assertEqual(self.out(tree, ASK + """
for call in (lambda: spec_func(), lambda: spec_func("f", 1), lambda: spec_func(name="f"),
             lambda: spec_func(3), lambda: spec_call(), lambda: spec_call(None),
             lambda: spec_call(x=1), lambda: spec_path(), lambda: spec_path([3]),
             lambda: spec_call("f", 1)):
    try:
        call()
    except TypeError:
        continue
    print("no TypeError")
        """), "")

    def test_returned_none_is_told_apart_by_spec_func(self):
        tree = self.provided("def f(): return None")
        self.assertEqual(self.out(tree, ASK + """
print(spec_call("f"), spec_func("f") is not None, spec_func("g") is not None)
        """), "None True False")

    def test_calls_keep_no_references(self):
        tree = self.provided("""
            def f(*args, **kwargs): return args
            def __getattr__(name): raise AttributeError(name)
        """)
        self.assertEqual(self.out(tree, ASK + """
import sys
f, arg, name = spec_func("f"), object(), "no such " + str(len(sys.argv))
counted = lambda: [sys.getrefcount(x) for x in (f, arg, name)]
for n in range(1000):
    if n == 1:  # the first round fills the interpreter's caches
        before = counted()
    spec_func("f"), spec_func(function_name="f"), spec_func(name)
    spec_call("f", arg), spec_call("f", k=arg), spec_call("f", arg, k=arg), spec_call(name, arg)
    spec_call(function_name="f", k=arg)
    try:
        spec_func(arg)
    except TypeError:
        pass
print([b - a for a, b in zip(before, counted())])
        """), "[0, 0, 0]")

    def test_exception_of_the_function_is_the_callers(self):
        tree = self.provided("def f(): raise KeyError('mine')")
        self.assertEqual(self.out(tree, ASK + """
try:
    spec_call("f")
except KeyError as e:
    print(e.args)
        """), "('mine',)")

    def test_names_that_the_provider_gets_later_are_found(self):
        tree = self.provided("")
        self.assertEqual(self.out(tree, ASK + """
import triton.spec.demo.triton as provider
print(spec_func("late"))
provider.late = len
print(spec_func("late"))
del provider.late
print(spec_func("late"))
        """), "None\n<built-in function len>\nNone")

    def test_lazy_provider_is_asked(self):
        tree = self.provided("""
            def __getattr__(name):
                if name == "lazy":
                    return 7
                raise AttributeError(name)
        """)
        self.assertEqual(self.out(tree, ASK + "print(spec_func('lazy'), spec_func('no'))"),
                         "7 None")

    def test_provider_may_replace_itself_by_another_object(self):
        tree = self.provided("""
            import sys
            class Box:
                __file__ = __file__
                f = staticmethod(lambda: "boxed")
            sys.modules[__name__] = Box()
        """)
        self.assertEqual(self.out(tree, ASK + "print(spec_call('f'), spec_func('g'))"),
                         "boxed None")

    def test_older_places_are_found(self):
        for place in ("backends/{}/spec/triton", "backends/{}/spec"):
            tree = self.tree()
            tree.write({"__init__.py": "", "backends/__init__.py": ""})
            tree.supply()
            tree.backend("demo", {"__init__.py": "def f(): return __name__"}, place)
            tree.choose("demo")
            self.assertEqual(self.out(tree, ASK + "print(spec_call('f'))"),
                             "triton." + place.format("demo").replace("/", "."))

    def test_older_place_without_directory_imports_nothing(self):
        tree = self.tree()
        tree.write({"__init__.py": "", "backends/__init__.py": "raise SystemExit('imported')",
                    "backends/demo/__init__.py": ""})
        tree.supply()
        tree.choose("demo")
        self.assertEqual(self.out(tree, ASK + "print(spec_func('f'))"), "None")

    def test_older_module_name_works(self):
        tree = self.tree()
        tree.write({"__init__.py": ""})
        tree.supply("flagtree_spec")
        tree.backend("demo", {"__init__.py": "def f(): return 1"})
        tree.choose("demo")
        self.assertEqual(self.out(tree, "from triton.flagtree_spec import spec\n"
                                        "print(spec('f'))"), "1")

    def test_marker_that_is_no_name_is_refused(self):
        tree = self.provided("")
        tree.choose("../evil")
        done = tree.run(ASK + "spec_func('f')")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("ImportError: FLAGTREE_BACKEND is '../evil', expected", done.stderr)

    def test_symbols_of_a_language_extension(self):
        tree = self.provided("")
        tree.write({"language/__init__.py": "taken = 'trunk'"})
        self.assertEqual(self.out(tree, """
from triton._flagtree_spec import bind_language_extension_symbols_to_tl as bind
class Extension:
    __all__ = ["taken", "fresh", "absent"]
    taken = fresh = "extension"
class Silent:
    other = 1
bind(Extension)
bind(extension=Silent)
import triton.language as tl
print(tl.taken, tl.fresh, hasattr(tl, "absent"), hasattr(tl, "other"))
        """), "trunk extension False False")


class Broken(TreeTest):
    def broken(self, init, **more):
        tree = self.tree()
        tree.write({"__init__.py": ""})
        tree.supply()
        tree.backend("demo", {"__init__.py": init, **more})
        tree.choose("demo")
        return tree

    CATCH = ASK + """
import sys
def tell():
    try:
        print(spec_func("f"))
    except ImportError as e:
        print(type(e.__cause__).__name__, e.__cause__, "|", e.path.split("python/")[1],
              "spec/demo/triton/__init__.py" in str(e), str(e.__cause__) in str(e))
tell()
"""

    def test_every_cause_is_chained_and_the_file_named(self):
        where = "| triton/spec/demo/triton/__init__.py True True"
        for init, cause in (
                ("import no_such_module_x", "ModuleNotFoundError No module named "
                                            "'no_such_module_x' "),
                ("from os import no_such_x", "ImportError cannot import name 'no_such_x' "),
                ("undefined_x", "NameError name 'undefined_x' is not defined "),
                ("1 / 0", "ZeroDivisionError division by zero "),
                ("def f(:", "SyntaxError invalid syntax "),
                ("from .other import f", "ModuleNotFoundError No module named "
                                         "'triton.spec.demo.triton.other' ")):
            with self.subTest(init=init):
                out = self.out(self.broken(init), self.CATCH)
                self.assertTrue(out.startswith(cause[:-1]), out)
                self.assertTrue(out.endswith(where), out)

    def test_traceback_shows_the_real_line(self):
        done = self.broken("from . import deep", **{"deep.py": "def g():\n    1 / 0\ng()"}).run(
            ASK + "spec_call('f')")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("deep.py", done.stderr)
        self.assertIn("ZeroDivisionError", done.stderr)
        self.assertIn("direct cause of the following", done.stderr)

    COUNT = "import builtins\nbuiltins.count = getattr(builtins, 'count', 0) + 1\n"

    def test_failure_is_not_retried(self):
        tree = self.broken(self.COUNT + "1 / 0")
        self.assertEqual(self.out(tree, ASK + """
import builtins
seen = []
for i in range(5):
    try:
        spec_call("f")
    except ImportError as e:
        seen.append(e)
print(builtins.count, len(seen), len({id(e) for e in seen}), len({str(e) for e in seen}),
      all(isinstance(e.__cause__, ZeroDivisionError) for e in seen))
        """), "1 5 5 1 True")

    def test_lenient_passes_over_import_errors_alone(self):
        tree = self.broken(self.COUNT + "import no_such_module_x")
        self.assertEqual(self.out(tree, ASK + """
import builtins
print(spec_func("f"), spec_call("f"), spec_func("g"), builtins.count)
        """, FLAGTREE_SPEC_LENIENT="1"), "None None None 1")
        out = self.out(self.broken("1 / 0"), self.CATCH, FLAGTREE_SPEC_LENIENT="1")
        self.assertTrue(out.startswith("ZeroDivisionError"), out)
        out = self.out(tree, self.CATCH, FLAGTREE_SPEC_LENIENT="0")
        self.assertTrue(out.startswith("ModuleNotFoundError"), out)

    def test_interrupts_pass_through_and_are_not_kept(self):
        tree = self.broken("""
            import builtins
            if not hasattr(builtins, "second"):
                builtins.second = True
                raise KeyboardInterrupt
            def f(): return "found"
        """)
        self.assertEqual(self.out(tree, ASK + """
try:
    spec_call("f")
except KeyboardInterrupt:
    print("interrupted")
print(spec_call("f"))
        """), "interrupted\nfound")

    def test_new_import_of_the_trunk_is_a_new_try(self):
        tree = self.broken("1 / 0")
        tree.write({"__init__.py": "from triton._flagtree_spec import spec_call\n"
                                   "value = spec_call('f')"})
        self.assertEqual(self.out(tree, f"""
import importlib
try:
    import triton
except ImportError as e:
    print(type(e.__cause__).__name__)
with open({tree.package!r} + "/spec/demo/triton/__init__.py", "w") as f:
    f.write("def f(): return 'mended'")
importlib.invalidate_caches()
import triton
print(triton.value)
        """), "ZeroDivisionError\nmended")

    def test_failure_inside_the_trunks_import_is_tried_once_more_after_it(self):
        tree = self.broken(self.COUNT + "from triton.late import name\ndef f(): return name")
        tree.write({"__init__.py": """
            from triton._flagtree_spec import spec_call
            from . import early
            from . import late
        """, "early.py": """
            from triton._flagtree_spec import spec_call
            seen = [spec_call("f"), spec_call("f")]
        """, "late.py": """
            import triton
            if not hasattr(triton, "early"):
                raise ImportError("too early")
            name = "late"
        """})
        self.assertEqual(self.out(tree, """
import builtins, triton
from triton._flagtree_spec import spec_call
print(triton.early.seen, builtins.count, spec_call("f"), spec_call("f"), builtins.count)
        """, FLAGTREE_SPEC_LENIENT="1"), "[None, None] 1 late late 2")

    def test_call_during_the_providers_own_import_sees_what_is_there(self):
        tree = self.broken("""
            def first(): return "first"
            import triton.asks
            def second(): return "second"
        """)
        tree.write({"asks.py": """
            from triton._flagtree_spec import spec_call, spec_func
            seen = spec_call("first"), spec_func("second")
        """})
        self.assertEqual(self.out(tree, ASK + """
print(spec_call("second"))
import triton.asks
print(triton.asks.seen)
        """), "second\n('first', None)")


class Trace(TreeTest):
    def test_names_asked_for_found_and_missing(self):
        tree = self.tree()
        tree.write({"__init__.py": ""})
        tree.supply()
        tree.backend("demo", {"__init__.py": "def f(): pass"})
        tree.choose("demo")
        code = ASK + "spec_func('f'); spec_call('f'); spec_call('g')"
        lines = tree.run(code, SPECFS_TRACE="other,hooks").stderr.splitlines()
        self.assertEqual(len(lines), 4)
        self.assertIn("specfs: hooks: backend 'demo': provider <module", lines[0])
        self.assertEqual(lines[1:], ["specfs: hooks: spec_func 'f': found",
                                     "specfs: hooks: spec_call 'f': found",
                                     "specfs: hooks: spec_call 'g': missing"])
        self.assertEqual(tree.run(code).stderr, "")
        self.assertEqual(tree.run(code, SPECFS_TRACE="other").stderr, "")

    def test_broken_provider_is_traced(self):
        tree = self.tree()
        tree.write({"__init__.py": ""})
        tree.supply()
        tree.backend("demo", {"__init__.py": "import no_such_module_x"})
        tree.choose("demo")
        err = tree.run(ASK + "spec_func('f')", SPECFS_TRACE="hooks",
                       FLAGTREE_SPEC_LENIENT="1").stderr
        self.assertEqual(err, "specfs: hooks: backend 'demo': provider is broken\n"
                              "specfs: hooks: spec_func 'f': missing\n")


if __name__ == "__main__":
    unittest.main()
