# SPDX-License-Identifier: MIT
ORIGIN = "trunk"

from . import code_generator, compiler, errors
