# SPDX-License-Identifier: MIT
ORIGIN = "trunk"

def cdiv(x, y):
    return (x + y - 1) // y
