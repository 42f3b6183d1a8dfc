// SPDX-License-Identifier: MIT
#pragma once

#include "triton/Dialect/TritonGPU/Transforms/GcuPasses.h"

#define TRITONGPU_TRANSFORMS_PASSES GCU_PASSES
