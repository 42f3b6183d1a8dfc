# SPDX-License-Identifier: MIT
"""One function of the trunk's module triton._utils, in a version of the demo backend's own.

The import hook binds it over the trunk's; the compiler calls it for the type of each block.
"""
MAX_ELEMENTS = 1 << 20

calls = 0


def validate_block_shape(shape):
    """The number of elements of a block; ValueError unless each side is a power of two."""
    global calls
    calls += 1
    elements = 1
    for i, side in enumerate(shape):
        if not isinstance(side, int):
            raise TypeError(f'side {i} of a block is {type(side).__name__}, expected int')
        if side & (side - 1):
            raise ValueError(f'side {i} of a block is {side}, expected a power of two')
        elements *= side
    if elements > MAX_ELEMENTS:
        raise ValueError(f'a block of {elements} elements, expected at most {MAX_ELEMENTS}')
    return elements
