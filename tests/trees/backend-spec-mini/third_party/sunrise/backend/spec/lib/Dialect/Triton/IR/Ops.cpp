// SPDX-License-Identifier: MIT
#include "triton/Report.h"

void report_add_op(void) {
  triton_say("lib/Dialect/Triton/IR/Ops.cpp", "AddOp", "sunrise");
}
