// SPDX-License-Identifier: MIT
#include "ir.h"
#include "triton/Report.h"

void report_src_ir(void) {
  triton_say("python/src/ir.cc", "", "trunk");
  triton_say("python/src/ir.cc", "ir.h", PYTHON_SRC_IR_H);
}
