# SPDX-License-Identifier: MIT
ORIGIN = "mthreads"

def apply_with_path(value, fn):
    return fn((), value)
