# SPDX-License-Identifier: MIT
"""A few lines in the place of each file of Triton's Python package."""
__version__ = "3.6.0"
ORIGIN = "trunk"

from . import _utils, errors, knobs, runtime, language, compiler, testing, backends, tools
