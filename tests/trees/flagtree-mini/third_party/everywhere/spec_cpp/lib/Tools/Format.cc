// SPDX-License-Identifier: MIT
#include "triton/Report.h"

#define UNIT "lib/Tools/Format.cc"

void report_lib_tools_format(void) {
  triton_say(UNIT, "", "everywhere");
}
