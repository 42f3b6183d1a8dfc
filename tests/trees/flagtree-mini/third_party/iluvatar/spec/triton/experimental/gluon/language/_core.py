# SPDX-License-Identifier: MIT
ORIGIN = "iluvatar"
