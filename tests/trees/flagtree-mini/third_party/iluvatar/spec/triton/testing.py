# SPDX-License-Identifier: MIT
ORIGIN = "iluvatar"

def nvsmi(attrs):
    return ["iluvatar"] * len(attrs)


def get_max_tensorcore_tflops(dtype):
    return ("iluvatar", dtype)
