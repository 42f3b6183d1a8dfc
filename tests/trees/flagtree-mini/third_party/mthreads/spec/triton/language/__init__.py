# SPDX-License-Identifier: MIT
ORIGIN = "mthreads"

def language_extend_globals(globals_dict):
    # NOTE: must use absolute path import
    from triton.language.standard import squeeze, unsqueeze
    globals_dict["squeeze"] = squeeze
    globals_dict["unsqueeze"] = unsqueeze
