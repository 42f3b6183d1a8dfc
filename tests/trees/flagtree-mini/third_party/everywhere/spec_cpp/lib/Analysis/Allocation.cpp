// SPDX-License-Identifier: MIT
#include "triton/Analysis/Allocation.h"
#include "triton/Report.h"

#define UNIT "lib/Analysis/Allocation.cpp"

void report_lib_analysis_allocation(void) {
  triton_say(UNIT, "", "everywhere");
  triton_say(UNIT, "Allocation.h", TRITON_ANALYSIS_ALLOCATION);
}
