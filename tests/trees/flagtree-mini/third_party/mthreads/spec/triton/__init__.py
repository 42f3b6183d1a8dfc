# SPDX-License-Identifier: MIT
ORIGIN = "mthreads"

from ._filecheck import spec_get_stub_target
from ._utils import apply_with_path
from .compiler import compiler_extend_globals
from .language import language_extend_globals
