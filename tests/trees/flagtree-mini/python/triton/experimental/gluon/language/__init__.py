# SPDX-License-Identifier: MIT
ORIGIN = "trunk"

from . import _core, _layouts, amd, nvidia
