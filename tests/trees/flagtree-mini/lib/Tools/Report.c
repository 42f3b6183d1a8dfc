/* SPDX-License-Identifier: MIT */
#include "triton/Report.h"

#include <stdio.h>

void triton_say(const char *unit, const char *what, const char *variant) {
  printf("%s%s%s: %s\n", unit, *what ? " + " : "", what, variant);
}
