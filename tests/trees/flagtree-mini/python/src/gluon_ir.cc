// SPDX-License-Identifier: MIT
#include "ir.h"
#include "triton/Report.h"

#define UNIT "python/src/gluon_ir.cc"

void report_src_gluon_ir(void) {
  triton_say(UNIT, "", "trunk");
  triton_say(UNIT, "ir.h", PYTHON_SRC_IR_H);
}
