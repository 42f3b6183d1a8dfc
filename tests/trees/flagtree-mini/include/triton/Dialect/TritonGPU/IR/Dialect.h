// SPDX-License-Identifier: MIT
#pragma once

#include "triton/Dialect/Triton/IR/Dialect.h"

#define TRITONGPU_IR_DIALECT "trunk"
