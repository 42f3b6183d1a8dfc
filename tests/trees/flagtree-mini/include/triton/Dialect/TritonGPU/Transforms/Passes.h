// SPDX-License-Identifier: MIT
#pragma once

#define TRITONGPU_TRANSFORMS_PASSES "trunk"
