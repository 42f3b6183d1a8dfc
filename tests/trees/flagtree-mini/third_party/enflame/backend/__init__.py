# SPDX-License-Identifier: MIT
ORIGIN = "enflame"
