// SPDX-License-Identifier: MIT
// Included by TritonOps.td, and the root of a TableGen run of its own.
class Op {
  string base = "trunk";
  string variant = "unset";
}

class Interface {
  string base = "trunk";
  string variant = "trunk";
}

def LoadLike : Interface {
}
