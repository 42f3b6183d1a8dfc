// SPDX-License-Identifier: MIT
#include "triton/Analysis/Allocation.h"
#include "triton/Report.h"

void report_lib_analysis_allocation(void) {
  triton_say("lib/Analysis/Allocation.cpp", "", "mthreads");
  triton_say("lib/Analysis/Allocation.cpp", "Allocation.h", TRITON_ANALYSIS_ALLOCATION);
}
