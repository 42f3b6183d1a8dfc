# SPDX-License-Identifier: MIT
"""The language extension of the demo backend."""
from triton.language import core
from triton.runtime.jit import jit

__all__ = ['demo_relu']


@jit
def demo_relu(x):
    return core.where(x > 0, x, 0.0)
