# SPDX-License-Identifier: MIT
from triton._flagtree_spec import spec_path

# flagtree backend path specialization
spec_path(__path__)

ORIGIN = "trunk"

from . import code_generator, compiler, errors

from triton._flagtree_spec import spec_call

# flagtree backend call specialization
spec_call("compiler_extend_globals", globals())
