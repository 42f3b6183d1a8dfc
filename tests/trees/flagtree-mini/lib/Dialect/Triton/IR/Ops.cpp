// SPDX-License-Identifier: MIT
#include "triton/Dialect/Triton/IR/Dialect.h"
#include "triton/Report.h"

#define UNIT "lib/Dialect/Triton/IR/Ops.cpp"

void report_lib_triton_ops(void) {
  triton_say(UNIT, "", "trunk");
  triton_say(UNIT, "Dialect.h", TRITON_IR_DIALECT);
#define TD_RECORD(name, base, variant) \
  triton_say(UNIT, "TritonOps.td " #name, variant); \
  triton_say(UNIT, "TritonOps.td " #name " base", base);
#include "triton/Dialect/Triton/IR/Ops.h.inc"
#undef TD_RECORD
#define TD_RECORD(name, base, variant) \
  triton_say(UNIT, "TritonOpInterfaces.td " #name, variant); \
  triton_say(UNIT, "TritonOpInterfaces.td " #name " base", base);
#include "triton/Dialect/Triton/IR/OpInterfaces.h.inc"
#undef TD_RECORD
}
