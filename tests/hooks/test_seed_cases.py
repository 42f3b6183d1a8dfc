# SPDX-License-Identifier: MIT
"""The seed's cases of spec_call, spec_func and spec_path in a trunk that calls them."""
import os
import unittest

from trees import ILUVATAR, MTHREADS, TreeTest

SHOW = """
import triton
from triton import _filecheck, _utils, language, testing
def show():
    return (testing.both(), _filecheck.run_parser("x"),
            _utils.apply_with_path and _utils.apply_with_path(2, str),
            language.squeeze(1) if hasattr(language, "squeeze") else None,
            language.core.name)
"""
PLAIN = "(('trunk nvsmi', 'trunk tflops'), ('trunk ir of x', ('cuda', 100, 32)), None, None, " \
        "'trunk core')"
FOR_ILUVATAR = "(('iluvatar nvsmi', 'iluvatar tflops'), ('iluvatar ir of x', ('cuda', 100, 32)), " \
               "None, None, 'trunk core')"
FOR_MTHREADS = "(('trunk nvsmi', 'trunk tflops'), ('trunk ir of x', ('musa', 31, 32)), " \
               "('mthreads', '2'), ('squeeze', 1), 'mthreads core')"


class SeedCases(TreeTest):
    def test_without_backend(self):
        self.assertEqual(self.out(self.seed(), SHOW + "print(show())"), PLAIN)

    def test_iluvatar(self):
        self.assertEqual(self.out(self.seed("iluvatar", ILUVATAR), SHOW + "print(show())"),
                         FOR_ILUVATAR)

    def test_mthreads(self):
        self.assertEqual(self.out(self.seed("mthreads", MTHREADS), SHOW + "print(show())"),
                         FOR_MTHREADS)

    def test_provider_behind_a_link_as_in_git(self):
        tree = self.seed()
        tree.backend("mthreads", MTHREADS, "../../third_party/{}/spec/triton")
        os.makedirs(os.path.join(tree.package, "spec"))
        os.symlink("../../../third_party/mthreads/spec/", os.path.join(tree.package,
                                                                       "spec/mthreads"))
        tree.choose("mthreads")
        self.assertEqual(self.out(tree, SHOW + "print(show())"), FOR_MTHREADS)

    def test_broken_provider_stops_the_import_with_its_cause(self):
        for backend, files in (("iluvatar", ILUVATAR), ("mthreads", MTHREADS)):
            for name, text in (("__init__.py", "import no_such_x"), ("_filecheck.py", "1 / 0")):
                done = self.seed(backend, {**files, name: text}).run(SHOW)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(f"triton/spec/{backend}/triton/__init__.py' of backend "
                              f"'{backend}' is broken: ", done.stderr)

    def test_broken_provider_passed_over_if_wanted(self):
        tree = self.seed("mthreads", {**MTHREADS, "_utils.py": "import no_such_x"})
        self.assertEqual(self.out(tree, SHOW + "print(show())", FLAGTREE_SPEC_LENIENT="1"),
                         PLAIN.replace("trunk core", "mthreads core"))

    THREADS = """
    import threading
    start, results = threading.Barrier(8), []
    def work():
        start.wait()
        exec(SHOW, globals())
        for _ in range(300):
            results.append(show())
    threads = [threading.Thread(target=work) for _ in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    print(len(results), *set(map(str, results)))
    """

    def test_from_threads(self):
        for backend, files, want in (("iluvatar", ILUVATAR, FOR_ILUVATAR),
                                     ("mthreads", MTHREADS, FOR_MTHREADS),
                                     (None, None, PLAIN)):
            tree = self.seed(backend, files)
            self.assertEqual(self.out(tree, f"SHOW = {SHOW!r}" + self.THREADS.replace(
                "\n    ", "\n")), "2400 " + want)

    def test_broken_one_from_threads(self):
        tree = self.seed("mthreads", {**MTHREADS, "_utils.py": "1 / 0"})
        tree.write({"__init__.py": ""})
        self.assertEqual(self.out(tree, """
import threading
from triton._flagtree_spec import spec_func
start, causes = threading.Barrier(8), []
def work():
    start.wait()
    for _ in range(100):
        try:
            spec_func("apply_with_path")
        except ImportError as e:
            causes.append(type(e.__cause__).__name__)
threads = [threading.Thread(target=work) for _ in range(8)]
[t.start() for t in threads]
[t.join() for t in threads]
print(len(causes), set(causes))
        """), "800 {'ZeroDivisionError'}")

    def test_from_subprocesses(self):
        tree = self.seed("mthreads", MTHREADS)
        self.assertEqual(self.out(tree, SHOW + f"""
import os, subprocess, sys
before = show()
pid = os.fork()
if pid == 0:
    os._exit(0 if show() == before else 1)
print(os.waitpid(pid, 0)[1])
print(subprocess.check_output([sys.executable, "-c", {SHOW + "print(show())"!r}], text=True))
        """), "0\n" + FOR_MTHREADS)


class SpecPath(TreeTest):
    def path_of(self, tree, package):
        out = self.out(tree, f"import triton.{package} as p\nprint(*p.__path__)")
        return [os.path.relpath(p, tree.package) for p in out.split()]

    def test_backend_directory_comes_first(self):
        tree = self.seed("mthreads", MTHREADS)
        self.assertEqual(self.path_of(tree, "language"),
                         ["spec/mthreads/triton/language", "language"])

    def test_any_name_may_come_before(self):
        for above in ("triton-work", "triton", "x/triton/python/triton/y", "spec/triton"):
            tree = self.seed("mthreads", MTHREADS, above=above)
            self.assertEqual(self.path_of(tree, "language"),
                             ["spec/mthreads/triton/language", "language"])
            self.assertEqual(self.out(tree, SHOW + "print(show())"), FOR_MTHREADS)

    def test_backend_without_that_directory_changes_nothing(self):
        tree = self.seed("iluvatar", ILUVATAR)
        self.assertEqual(self.path_of(tree, "language"), ["language"])

    def test_deeper_package_and_older_place(self):
        for place in ("spec/{}/triton", "backends/{}/spec/triton"):
            tree = self.seed("mthreads", {"experimental/gluon/nvidia/new.py": ""})
            tree.backend("mthreads", {"experimental/gluon/nvidia/new.py": ""}, place)
            tree.write({"experimental/__init__.py": "", "experimental/gluon/__init__.py": "",
                        "experimental/gluon/nvidia/__init__.py": """
                from triton._flagtree_spec import spec_path
                spec_path(__path__)
                spec_path(path_list=__path__)
                from . import new
            """})
            if place != "spec/{}/triton":
                os.rename(os.path.join(tree.package, "spec"), os.path.join(tree.top, "unused"))
            self.assertEqual(self.path_of(tree, "experimental.gluon.nvidia"),
                             [place.format("mthreads") + "/experimental/gluon/nvidia",
                              "experimental/gluon/nvidia"])

    def test_list_that_is_no_part_of_a_trunk(self):
        tree = self.seed("mthreads", MTHREADS)
        self.assertEqual(self.out(tree, """
import os, tempfile
from triton._flagtree_spec import spec_path
for p in ([], ["/nowhere"], ["/x/triton-work/language"], ["relative"], [""]):
    before = list(p)
    spec_path(p)
    assert p == before, p
# A copy that is not the loaded trunk: the last component of the package's name counts.
top = tempfile.mkdtemp()
os.makedirs(top + "/triton/a/triton/spec/mthreads/triton/language")
p = [top + "/triton/a/triton/language"]
spec_path(p)
print([x[len(top):] for x in p])
import shutil; shutil.rmtree(top)
        """), "['/triton/a/triton/spec/mthreads/triton/language', '/triton/a/triton/language']")

    def test_nothing_to_do_inside_a_view(self):
        tree = self.seed("mthreads", MTHREADS)
        try:
            os.setxattr(os.path.join(tree.package, "language"), "user.specfs.origin", b"trunk")
        except OSError:
            self.skipTest("no user xattrs here")
        self.assertEqual(self.path_of(tree, "language"), ["language"])


if __name__ == "__main__":
    unittest.main()
