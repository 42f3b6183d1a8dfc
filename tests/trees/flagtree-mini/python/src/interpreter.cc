// SPDX-License-Identifier: MIT
#include "triton/Report.h"

#define UNIT "python/src/interpreter.cc"

void report_src_interpreter(void) {
  triton_say(UNIT, "", "trunk");
}
