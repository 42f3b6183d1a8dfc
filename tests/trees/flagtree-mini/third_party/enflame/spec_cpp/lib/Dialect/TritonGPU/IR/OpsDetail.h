// SPDX-License-Identifier: MIT
#pragma once

#define TRITONGPU_OPS_DETAIL "enflame"
