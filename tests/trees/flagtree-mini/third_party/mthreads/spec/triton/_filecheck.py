# SPDX-License-Identifier: MIT
ORIGIN = "mthreads"

def spec_get_stub_target():
    return ("musa", 31, 32)
