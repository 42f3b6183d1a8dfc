// SPDX-License-Identifier: MIT
#pragma once

void triton_say(const char *unit, const char *what, const char *variant);
void report_lib_triton_ops(void);
void report_lib_analysis_allocation(void);
void report_src_ir(void);
