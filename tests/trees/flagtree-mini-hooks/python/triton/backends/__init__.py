# SPDX-License-Identifier: MIT
from triton._flagtree_spec import spec_path

# flagtree backend path specialization
spec_path(__path__)

ORIGIN = "trunk"

import importlib
import os


def _discover():
    """{name: compiler module} of every directory here that has a driver and a compiler."""
    found = {}
    for name in sorted(os.listdir(os.path.dirname(__file__))):
        here = os.path.join(os.path.dirname(__file__), name)
        if os.path.isfile(os.path.join(here, "driver.py")) and os.path.isfile(os.path.join(here, "compiler.py")):
            importlib.import_module(f"triton.backends.{name}.driver")
            found[name] = importlib.import_module(f"triton.backends.{name}.compiler")
    return found


backends = _discover()
