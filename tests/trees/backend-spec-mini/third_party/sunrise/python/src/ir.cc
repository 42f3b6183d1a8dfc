// SPDX-License-Identifier: MIT
#include "triton/Report.h"

void report_src_ir(void) {
  triton_say("python/src/ir.cc", "", "sunrise");
}
