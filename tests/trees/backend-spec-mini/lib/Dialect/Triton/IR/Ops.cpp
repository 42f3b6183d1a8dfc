// SPDX-License-Identifier: MIT
#include "triton/Report.h"
#if __has_include("flagtree_spec.h")
#include "flagtree_spec.h"
#endif

// A backend may cut this out and bring its own in a library beside this one.
#ifdef FLAGTREE_SPEC_Triton_IR_AddOp
void report_add_op(void);
#else
static void report_add_op(void) {
  triton_say("lib/Dialect/Triton/IR/Ops.cpp", "AddOp", "trunk");
}
#endif

void report_lib_triton_ops(void) {
  triton_say("lib/Dialect/Triton/IR/Ops.cpp", "", "trunk");
#define TD_RECORD(variant) triton_say("lib/Dialect/Triton/IR/Ops.cpp", "TritonOps.td", variant);
#include "triton/Dialect/Triton/IR/Ops.h.inc"
#undef TD_RECORD
  report_add_op();
}
