# SPDX-License-Identifier: MIT
"""Install this tree for the backend named by FLAGTREE_BACKEND, the way FlagTree does.

Every backend directory is made reachable from the package by an absolute link; what was there is
unlinked or deleted first. TRITON_BUILD_EXT=1 builds the native module into triton/_C with CMake.
"""
import os
import shutil
import subprocess
import sys
import sysconfig

from setuptools import Extension, find_packages, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools.command.develop import develop
from setuptools.command.egg_info import egg_info

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
BACKEND = os.environ.get("FLAGTREE_BACKEND", "")


def backend_links():
    """(link, target) for the backend directory, its language and its tools directories."""
    base = os.path.join(ROOT, "third_party", BACKEND)
    if not BACKEND:
        return
    if os.path.isdir(os.path.join(base, "backend")):
        yield os.path.join(HERE, "triton", "backends", BACKEND), os.path.join(base, "backend")
    for kind in ("language", "tools"):
        if os.path.isdir(os.path.join(base, kind)):
            for name in sorted(os.listdir(os.path.join(base, kind))):
                yield os.path.join(HERE, "triton", kind, "extra", name), os.path.join(base, kind, name)


def update_symlink(link, target):
    if os.path.islink(link):
        os.unlink(link)
    elif os.path.exists(link):
        shutil.rmtree(link)
    os.makedirs(os.path.dirname(link), exist_ok=True)
    print(f"link {link} -> {target}", file=sys.stderr)
    os.symlink(target, link)


def add_links():
    for link, target in backend_links():
        update_symlink(link, target)


def write_marker():
    with open(os.path.join(HERE, "triton", "FLAGTREE_BACKEND"), "w", encoding="utf-8") as f:
        f.write(BACKEND)


class PluginBuildPy(build_py):

    def run(self):
        add_links()
        write_marker()
        super().run()


class PluginDevelop(develop):

    def run(self):
        add_links()
        write_marker()
        super().run()


class PluginEggInfo(egg_info):

    def run(self):
        add_links()
        super().run()


class CMakeBuild(build_ext):

    def run(self):
        out = os.path.join(HERE, "triton", "_C")
        build = os.path.join(HERE, "build", f"cmake.{sysconfig.get_platform()}-{sys.version_info[0]}.{sys.version_info[1]}")
        os.makedirs(build, exist_ok=True)
        os.makedirs(out, exist_ok=True)
        subprocess.check_call(["cmake", "-G", "Ninja", ROOT, f"-DCMAKE_LIBRARY_OUTPUT_DIRECTORY={out}",
                               "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"], cwd=build)
        subprocess.check_call(["cmake", "--build", "."], cwd=build)
        update_symlink(os.path.join(ROOT, "compile_commands.json"), os.path.join(build, "compile_commands.json"))


setup(
    name="triton-mini",
    version="3.6.0",
    packages=find_packages(HERE, include=["triton", "triton.*"], exclude=["triton.spec", "triton.spec.*"]),
    package_dir={"": "."},
    ext_modules=[Extension("triton", [])] if os.environ.get("TRITON_BUILD_EXT") else [],
    cmdclass={"build_py": PluginBuildPy, "develop": PluginDevelop, "egg_info": PluginEggInfo, "build_ext": CMakeBuild},
    zip_safe=False,
)
