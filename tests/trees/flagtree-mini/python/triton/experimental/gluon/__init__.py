# SPDX-License-Identifier: MIT
ORIGIN = "trunk"

from . import _compiler, _runtime, language
