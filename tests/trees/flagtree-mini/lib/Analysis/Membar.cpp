// SPDX-License-Identifier: MIT
#include "triton/Analysis/Membar.h"
#include "triton/Report.h"

#define UNIT "lib/Analysis/Membar.cpp"

void report_lib_analysis_membar(void) {
  triton_say(UNIT, "", "trunk");
  triton_say(UNIT, "Membar.h", TRITON_ANALYSIS_MEMBAR);
  triton_say(UNIT, "Membar.h > Allocation.h", TRITON_ANALYSIS_ALLOCATION);
}
