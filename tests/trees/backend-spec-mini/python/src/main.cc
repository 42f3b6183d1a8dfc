// SPDX-License-Identifier: MIT
#include "triton/Report.h"

#include <stdio.h>

void triton_say(const char *unit, const char *what, const char *variant) {
  printf("%s%s%s: %s\n", unit, *what ? " + " : "", what, variant);
}

int main(void) {
  report_lib_triton_ops();
  report_lib_analysis_allocation();
  report_src_ir();
  triton_say("python/src/main.cc", "", "trunk");
  return 0;
}
