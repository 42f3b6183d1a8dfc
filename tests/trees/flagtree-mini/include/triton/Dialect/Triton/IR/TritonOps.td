// SPDX-License-Identifier: MIT
include "triton/Dialect/Triton/IR/TritonOpInterfaces.td"

def AddOp : Op {
  let variant = "trunk";
}
