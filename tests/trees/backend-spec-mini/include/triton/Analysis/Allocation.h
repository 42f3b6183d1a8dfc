// SPDX-License-Identifier: MIT
#pragma once

#define TRITON_ANALYSIS_ALLOCATION "trunk"
