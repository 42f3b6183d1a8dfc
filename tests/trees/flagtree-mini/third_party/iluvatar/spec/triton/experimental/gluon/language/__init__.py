# SPDX-License-Identifier: MIT
# Only what differs is here: the rest comes from the trunk's directory, appended by hand.
import os

from .. import __path__ as _gluon_path

ORIGIN = "iluvatar"

for _dir in list(_gluon_path):
    _dir = os.path.join(_dir, "language")
    if os.path.isdir(_dir) and _dir not in __path__:
        __path__.append(_dir)

from . import _core, _layouts, amd, nvidia
