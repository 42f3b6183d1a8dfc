// SPDX-License-Identifier: MIT
include "triton/Dialect/Triton/IR/TritonOpInterfaces.td"

def ConvertLayoutOp : Op {
  let variant = "trunk";
}
