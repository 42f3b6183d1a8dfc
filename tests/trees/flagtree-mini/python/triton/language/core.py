# SPDX-License-Identifier: MIT
ORIGIN = "trunk"
