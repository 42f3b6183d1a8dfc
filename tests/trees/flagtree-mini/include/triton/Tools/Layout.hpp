// SPDX-License-Identifier: MIT
#pragma once

#define TRITON_TOOLS_LAYOUT "trunk"
