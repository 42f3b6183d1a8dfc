// SPDX-License-Identifier: MIT
#pragma once

#define GCU_PASSES "enflame"
