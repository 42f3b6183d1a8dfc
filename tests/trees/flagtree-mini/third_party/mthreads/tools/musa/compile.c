/* SPDX-License-Identifier: MIT */
const char *musa_compile_template = "mthreads";
