// SPDX-License-Identifier: MIT
#include "triton/Dialect/TritonGPU/IR/Dialect.h"
#include "triton/Report.h"

#define UNIT "lib/Dialect/TritonGPU/IR/Dialect.cpp"

void report_lib_tritongpu_dialect(void) {
  triton_say(UNIT, "", "trunk");
  triton_say(UNIT, "Dialect.h", TRITONGPU_IR_DIALECT);
}
