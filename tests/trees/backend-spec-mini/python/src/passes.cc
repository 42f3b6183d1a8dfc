// SPDX-License-Identifier: MIT
// In no target, and no backend brings it: the same in every view.
