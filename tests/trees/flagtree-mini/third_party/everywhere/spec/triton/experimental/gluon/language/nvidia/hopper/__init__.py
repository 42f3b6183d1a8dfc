# SPDX-License-Identifier: MIT
ORIGIN = "everywhere"
