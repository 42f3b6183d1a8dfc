# SPDX-License-Identifier: MIT
ORIGIN = "iluvatar"

def filecheck_make_ir(src):
    return f"iluvatar:{src}"
