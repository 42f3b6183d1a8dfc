/* SPDX-License-Identifier: MIT */
#include "triton/Report.h"

int main(void) {
  return triton_report();
}
