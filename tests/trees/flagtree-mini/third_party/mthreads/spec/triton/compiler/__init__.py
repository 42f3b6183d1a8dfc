# SPDX-License-Identifier: MIT
ORIGIN = "mthreads"

def compiler_extend_globals(globals_dict):
    globals_dict["musa_compile"] = "mthreads"
