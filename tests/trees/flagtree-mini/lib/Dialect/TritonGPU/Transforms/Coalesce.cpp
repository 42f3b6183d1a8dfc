// SPDX-License-Identifier: MIT
#include "triton/Dialect/TritonGPU/Transforms/Passes.h"
#include "triton/Report.h"

#define UNIT "lib/Dialect/TritonGPU/Transforms/Coalesce.cpp"

void report_lib_tritongpu_coalesce(void) {
  triton_say(UNIT, "", "trunk");
  triton_say(UNIT, "Passes.h", TRITONGPU_TRANSFORMS_PASSES);
#define TD_RECORD(name, base, variant) \
  triton_say(UNIT, "Passes.td " #name, variant); \
  triton_say(UNIT, "Passes.td " #name " base", base);
#include "triton/Dialect/TritonGPU/Transforms/Passes.h.inc"
#undef TD_RECORD
}
