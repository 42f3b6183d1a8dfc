// SPDX-License-Identifier: MIT
#include "passes.h"
#include "triton/Report.h"

#define UNIT "python/src/passes.cc"

void report_src_passes(void) {
  triton_say(UNIT, "", "trunk");
  triton_say(UNIT, "passes.h", PYTHON_SRC_PASSES_H);
}
