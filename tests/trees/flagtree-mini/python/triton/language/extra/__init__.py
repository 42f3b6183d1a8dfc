# SPDX-License-Identifier: MIT
ORIGIN = "trunk"

import importlib
import pkgutil

# every sub-package that is found here is imported, whoever put it here
names = sorted(m.name for m in pkgutil.iter_modules(__path__) if m.ispkg)
for _name in names:
    importlib.import_module(f"{__name__}.{_name}")
