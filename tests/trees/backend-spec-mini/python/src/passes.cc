// SPDX-License-Identifier: MIT
// In no target; gone from the view of a backend that brings its own python/src.
