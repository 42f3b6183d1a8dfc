# SPDX-License-Identifier: MIT
ORIGIN = "iluvatar"

from ._filecheck import filecheck_make_ir
from .semantic import semantic_create_load
from .testing import get_max_tensorcore_tflops, nvsmi
