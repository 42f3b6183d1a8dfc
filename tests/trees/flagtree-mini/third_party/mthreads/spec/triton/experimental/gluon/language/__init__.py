# SPDX-License-Identifier: MIT
ORIGIN = "mthreads"

from . import _core, _layouts, _musa, amd, nvidia
