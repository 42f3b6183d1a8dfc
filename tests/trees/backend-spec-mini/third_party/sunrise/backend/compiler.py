# SPDX-License-Identifier: MIT
ORIGIN = "sunrise"
