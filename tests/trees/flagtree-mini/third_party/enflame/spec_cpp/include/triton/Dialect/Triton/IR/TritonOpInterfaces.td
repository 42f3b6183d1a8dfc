// SPDX-License-Identifier: MIT
// Included by TritonOps.td, and the root of a TableGen run of its own.
class Op {
  string base = "enflame";
  string variant = "unset";
}

class Interface {
  string base = "enflame";
  string variant = "enflame";
}

def LoadLike : Interface {
}
