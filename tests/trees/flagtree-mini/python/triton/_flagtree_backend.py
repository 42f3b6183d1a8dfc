# SPDX-License-Identifier: MIT
"""The backend this tree was installed for: the contents of FLAGTREE_BACKEND, or nothing."""
import os

ORIGIN = "trunk"


def _read():
    try:
        with open(os.path.join(os.path.dirname(__file__), "FLAGTREE_BACKEND"), encoding="utf-8") as f:
            return f.read().strip()
    except FileNotFoundError:
        return ""


FLAGTREE_BACKEND = _read()
