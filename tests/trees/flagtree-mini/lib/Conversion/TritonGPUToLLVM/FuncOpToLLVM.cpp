// SPDX-License-Identifier: MIT
#include "triton/Dialect/TritonGPU/Transforms/Passes.h"
#include "triton/Report.h"

#define UNIT "lib/Conversion/TritonGPUToLLVM/FuncOpToLLVM.cpp"

void report_lib_conversion_functollvm(void) {
  triton_say(UNIT, "", "trunk");
  triton_say(UNIT, "Passes.h", TRITONGPU_TRANSFORMS_PASSES);
}
