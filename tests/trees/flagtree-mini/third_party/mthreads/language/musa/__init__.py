# SPDX-License-Identifier: MIT
ORIGIN = "mthreads"

from . import libdevice
