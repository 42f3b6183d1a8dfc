# SPDX-License-Identifier: MIT
"""spec_path and spec_func; a backend is reached through the link python/triton/backends/<backend>."""
import importlib
import os

from triton._flagtree_backend import FLAGTREE_BACKEND

ORIGIN = "trunk"


def spec_path(path_list):
    """Look into the backend's directory first; the first "/triton" of the path is taken for the root."""
    if not path_list or not FLAGTREE_BACKEND:
        return
    here = path_list[0].replace(os.sep, "/")
    at = here.find("/triton")
    if at < 0:
        return
    root, rel = here[:at] + "/triton", here[at + len("/triton"):].strip("/")
    special = os.path.join(root, "backends", FLAGTREE_BACKEND, "spec", "triton", rel)
    if os.path.isdir(special) and special not in path_list:
        path_list.insert(0, special)


def spec_func(name):
    """The backend's function, or None."""
    if not FLAGTREE_BACKEND:
        return None
    try:
        provider = importlib.import_module(f"triton.backends.{FLAGTREE_BACKEND}.spec.triton")
    except ImportError:
        return None
    return getattr(provider, name, None)
