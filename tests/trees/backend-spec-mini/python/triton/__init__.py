# SPDX-License-Identifier: MIT
"""Triton's package in the layout with third_party/<backend>/backend/spec."""
ORIGIN = "trunk"

from . import runtime, language, testing, tools
