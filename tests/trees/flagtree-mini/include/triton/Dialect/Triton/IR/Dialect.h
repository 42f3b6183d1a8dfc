// SPDX-License-Identifier: MIT
#pragma once

#define TRITON_IR_DIALECT "trunk"
