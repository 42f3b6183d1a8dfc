# SPDX-License-Identifier: MIT
ORIGIN = "iluvatar"

def semantic_create_load(ptr):
    return ("iluvatar", ptr)
