// SPDX-License-Identifier: MIT
#include "triton/Report.h"

#define UNIT "lib/Dialect/TritonGPU/IR/Ops.cpp"

void report_lib_tritongpu_ops(void) {
  triton_say(UNIT, "", "trunk");
#define TD_RECORD(name, base, variant) \
  triton_say(UNIT, "TritonGPUOps.td " #name, variant); \
  triton_say(UNIT, "TritonGPUOps.td " #name " base", base);
#include "triton/Dialect/TritonGPU/IR/Ops.h.inc"
#undef TD_RECORD
}
