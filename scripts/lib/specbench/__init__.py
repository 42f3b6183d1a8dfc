# SPDX-License-Identifier: MIT
"""What scripts/bench is made of: see __main__.py."""
