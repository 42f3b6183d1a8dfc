// SPDX-License-Identifier: MIT
#include "triton/Tools/Layout.hpp"
#include "triton/Report.h"

#define UNIT "lib/Tools/Layout.cxx"

void report_lib_tools_layout(void) {
  triton_say(UNIT, "", "everywhere");
  triton_say(UNIT, "Layout.hpp", TRITON_TOOLS_LAYOUT);
}
