# SPDX-License-Identifier: MIT
ORIGIN = "trunk"

class TritonError(Exception):
    pass
