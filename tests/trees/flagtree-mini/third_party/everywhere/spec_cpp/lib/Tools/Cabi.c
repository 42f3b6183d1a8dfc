/* SPDX-License-Identifier: MIT */
#include "triton/Report.h"

#define UNIT "lib/Tools/Cabi.c"

void report_lib_tools_cabi(void) {
  triton_say(UNIT, "", "everywhere");
}
