# SPDX-License-Identifier: MIT
ORIGIN = "nvidia"
