# SPDX-License-Identifier: MIT
from triton._flagtree_spec import spec_func

ORIGIN = "trunk"


def cdiv(x, y):
    return (x + y - 1) // y


# flagtree backend func specialization
apply_with_path = spec_func("apply_with_path")
