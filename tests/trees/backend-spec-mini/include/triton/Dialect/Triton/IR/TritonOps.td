// SPDX-License-Identifier: MIT
TD_RECORD("trunk")
