# SPDX-License-Identifier: MIT
ORIGIN = "trunk"

from . import core, extra, semantic, standard
