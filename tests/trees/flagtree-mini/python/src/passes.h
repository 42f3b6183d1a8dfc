// SPDX-License-Identifier: MIT
#pragma once

#define PYTHON_SRC_PASSES_H "trunk"
