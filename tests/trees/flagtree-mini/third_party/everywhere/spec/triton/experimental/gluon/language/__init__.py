# SPDX-License-Identifier: MIT
ORIGIN = "everywhere"

from . import _core, _layouts, amd, nvidia
