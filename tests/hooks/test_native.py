# SPDX-License-Identifier: MIT
"""C functions of a backend, called from Python. SPECFS_NATIVE_PROVIDER is a built provider."""
import os
import shutil
import unittest

from trees import TreeTest

NATIVE = os.environ["SPECFS_NATIVE_PROVIDER"]
ASK = "from triton._flagtree_spec import spec_call, spec_func\n"
CALL = ASK + "print(spec_call('count', 1, 2, a=3), spec_func('count'), spec_func('for_c_alone'))"
FOUND = "12 <built-in function count> None"


class Native(TreeTest):
    def native(self, backend, place):
        tree = self.tree()
        tree.write({"__init__.py": ""})
        tree.supply()
        if backend:
            tree.choose(backend)
            tree.backend(backend, {"__init__.py": "def in_both(): return 'python'"})
        if place:
            target = os.path.join(tree.package, place)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copy(NATIVE, target)
        return tree

    def test_hooks_so_beside_the_providers(self):
        for place in ("spec/demo/hooks.so", "backends/demo/spec/hooks.so"):
            self.assertEqual(self.out(self.native("demo", place), CALL), FOUND)

    def test_other_backends_is_not_loaded(self):
        self.assertEqual(self.out(self.native("demo", "spec/other/hooks.so"), CALL),
                         "None None None")

    def test_environment_names_one_without_any_backend(self):
        self.assertEqual(self.out(self.native(None, None), CALL, SPECFS_HOOKS=NATIVE), FOUND)

    def test_python_comes_before_c(self):
        tree = self.native("demo", "spec/demo/hooks.so")
        self.assertEqual(self.out(tree, ASK + "print(spec_call('in_both'))"), "python")

    def test_broken_one_is_named(self):
        tree = self.native("demo", None)
        tree.write({"spec/demo/hooks.so": "no ELF"})
        done = tree.run(ASK + "spec_func('count')")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("OSError: ", done.stderr)
        self.assertIn("ImportError: provider '" + os.path.join(tree.package,
                                                               "spec/demo/hooks.so"), done.stderr)

    def test_function_outlives_the_module(self):
        tree = self.native("demo", "spec/demo/hooks.so")
        self.assertEqual(self.out(tree, """
import gc, sys, triton._flagtree_spec as s
count = s.spec_func("count")
del sys.modules["triton._flagtree_spec"], sys.modules["triton"].__dict__["_flagtree_spec"], s
gc.collect()
import triton._flagtree_spec as s
print(count(1), s.spec_call("count"))
        """), "1 0")


if __name__ == "__main__":
    unittest.main()
