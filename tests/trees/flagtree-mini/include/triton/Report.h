// SPDX-License-Identifier: MIT
#pragma once

// Every translation unit says which variant of itself and of what it includes was compiled in.

#ifdef __cplusplus
extern "C" {
#endif
void triton_say(const char *unit, const char *what, const char *variant);
int triton_report(void);

void report_lib_analysis_allocation(void);
void report_lib_analysis_membar(void);
void report_lib_conversion_functollvm(void);
void report_lib_triton_ops(void);
void report_lib_tritongpu_dialect(void);
void report_lib_tritongpu_ops(void);
void report_lib_tritongpu_coalesce(void);
void report_lib_tools_cabi(void);
void report_lib_tools_format(void);
void report_lib_tools_layout(void);
void report_src_ir(void);
void report_src_passes(void);
void report_src_gluon_ir(void);
void report_src_interpreter(void);
#ifdef __cplusplus
}
#endif
