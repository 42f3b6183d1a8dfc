// SPDX-License-Identifier: MIT
#include "triton/Report.h"

int triton_report(void) {
  report_lib_analysis_allocation();
  report_lib_analysis_membar();
  report_lib_conversion_functollvm();
  report_lib_triton_ops();
  report_lib_tritongpu_dialect();
  report_lib_tritongpu_ops();
  report_lib_tritongpu_coalesce();
  report_lib_tools_cabi();
  report_lib_tools_format();
  report_lib_tools_layout();
  report_src_ir();
  report_src_passes();
  report_src_gluon_ir();
  report_src_interpreter();
  return 0;
}
