# SPDX-License-Identifier: MIT
from triton._flagtree_spec import spec_call

ORIGIN = "trunk"

def stub_target():
    return spec_call("spec_get_stub_target") or ("cuda", 100, 32)


def run_parser(src):
    """What a checked program is parsed to, and for which target."""
    # flagtree backend call specialization
    module = spec_call("filecheck_make_ir", src)
    if module is None:
        module = f"trunk:{src}"
    return module, stub_target()
