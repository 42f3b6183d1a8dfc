# SPDX-License-Identifier: MIT
from triton._flagtree_spec import spec_path

# flagtree backend path specialization
spec_path(__path__)

ORIGIN = "trunk"

from . import cache, driver, jit
