# SPDX-License-Identifier: MIT
ORIGIN = "trunk"

interpret = False
