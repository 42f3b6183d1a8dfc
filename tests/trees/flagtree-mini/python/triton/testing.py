# SPDX-License-Identifier: MIT
ORIGIN = "trunk"

def nvsmi(attrs):
    return ["trunk"] * len(attrs)


def get_max_tensorcore_tflops(dtype):
    return ("trunk", dtype)
