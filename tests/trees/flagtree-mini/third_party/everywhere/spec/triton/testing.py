# SPDX-License-Identifier: MIT
ORIGIN = "everywhere"

def nvsmi(attrs):
    return ["everywhere"] * len(attrs)
