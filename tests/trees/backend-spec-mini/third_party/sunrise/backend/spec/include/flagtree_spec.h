// SPDX-License-Identifier: MIT
#pragma once

#define FLAGTREE_SPEC_Triton_IR_AddOp
