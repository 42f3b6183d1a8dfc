# SPDX-License-Identifier: MIT
ORIGIN = "mthreads"

def language_extend_globals(globals_dict):
    globals_dict["musa"] = True
