# SPDX-License-Identifier: MIT
from triton._flagtree_spec import spec_func

ORIGIN = "trunk"


def nvsmi(attrs):
    return ["trunk"] * len(attrs)


def get_max_tensorcore_tflops(dtype):
    return ("trunk", dtype)


# flagtree backend func specialization
nvsmi = spec_func("nvsmi") or nvsmi
get_max_tensorcore_tflops = spec_func("get_max_tensorcore_tflops") or get_max_tensorcore_tflops
