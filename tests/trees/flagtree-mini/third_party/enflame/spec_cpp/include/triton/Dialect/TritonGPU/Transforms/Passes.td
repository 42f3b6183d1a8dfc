// SPDX-License-Identifier: MIT
include "triton/Dialect/TritonGPU/Transforms/PassBase.td"

def Coalesce : Pass {
  let variant = "enflame";
}
