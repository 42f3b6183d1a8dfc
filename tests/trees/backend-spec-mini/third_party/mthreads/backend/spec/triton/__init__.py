# SPDX-License-Identifier: MIT
ORIGIN = "mthreads"

from .testing import nvsmi
