// SPDX-License-Identifier: MIT
class Pass {
  string base = "everywhere";
  string variant = "unset";
}
