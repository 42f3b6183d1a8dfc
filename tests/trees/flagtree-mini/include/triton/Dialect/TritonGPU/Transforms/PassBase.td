// SPDX-License-Identifier: MIT
class Pass {
  string base = "trunk";
  string variant = "unset";
}
