/* SPDX-License-Identifier: MIT */
const char *cuda_compile_template = "nvidia";
