// SPDX-License-Identifier: MIT
#pragma once

// Quoted: a compiler looks beside this file first, whatever the include order says.
#include "Allocation.h"

#define TRITON_ANALYSIS_MEMBAR "trunk"
