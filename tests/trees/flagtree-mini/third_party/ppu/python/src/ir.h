// SPDX-License-Identifier: MIT
#pragma once

#define PYTHON_SRC_IR_H "ppu"
