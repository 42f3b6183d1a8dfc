# SPDX-License-Identifier: MIT
ORIGIN = "mthreads"
