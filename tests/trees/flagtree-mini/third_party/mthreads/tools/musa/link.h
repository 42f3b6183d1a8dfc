// SPDX-License-Identifier: MIT
#define MUSA_LINK "mthreads"
