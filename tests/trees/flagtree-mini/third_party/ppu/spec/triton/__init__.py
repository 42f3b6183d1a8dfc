# SPDX-License-Identifier: MIT
ORIGIN = "ppu"

from ._filecheck import spec_get_stub_target
