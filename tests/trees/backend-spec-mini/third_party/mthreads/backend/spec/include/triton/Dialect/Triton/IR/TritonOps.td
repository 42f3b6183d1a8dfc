// SPDX-License-Identifier: MIT
TD_RECORD("mthreads")
