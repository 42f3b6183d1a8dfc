# SPDX-License-Identifier: MIT
ORIGIN = "trunk"

from . import cache, driver, jit
