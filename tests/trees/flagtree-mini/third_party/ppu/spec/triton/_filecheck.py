# SPDX-License-Identifier: MIT
ORIGIN = "ppu"

def spec_get_stub_target():
    return ("ppu", 1, 32)
