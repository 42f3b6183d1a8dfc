# SPDX-License-Identifier: MIT
"""Imported right after the trunk's triton.language, to which it adds the backend's symbols."""
from triton._flagtree_spec import bind_language_extension_symbols_to_tl
from triton.language.extra import demo

bind_language_extension_symbols_to_tl(demo)
