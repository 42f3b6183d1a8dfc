# SPDX-License-Identifier: MIT
from triton.flagtree_spec import spec_func

ORIGIN = "trunk"


def nvsmi(attrs):
    return ["trunk"] * len(attrs)


nvsmi = spec_func("nvsmi") or nvsmi
