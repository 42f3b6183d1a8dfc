# SPDX-License-Identifier: MIT
"""spec_path, spec_call and spec_func with the behaviour the seed describes, quirks included."""
import importlib
import os

from triton._flagtree_backend import FLAGTREE_BACKEND

ORIGIN = "trunk"
_provider = None


def spec_path(path_list):
    """Look into the backend's directory first.

    The package root is everything before the FIRST "/triton" of the path, wherever that is: a checkout
    below a directory called triton-something is not specialized at all, and nobody is told.
    """
    if not path_list or not FLAGTREE_BACKEND:
        return
    here = path_list[0].replace(os.sep, "/")
    at = here.find("/triton")
    if at < 0:
        return
    root, rel = here[:at] + "/triton", here[at + len("/triton"):].strip("/")
    special = os.path.join(root, "spec", FLAGTREE_BACKEND, "triton", rel)
    if os.path.isdir(special) and special not in path_list:
        path_list.insert(0, special)


def _function(name):
    global _provider
    if not FLAGTREE_BACKEND:
        return None
    if _provider is None:
        try:
            _provider = importlib.import_module(f"triton.spec.{FLAGTREE_BACKEND}.triton")
        except ImportError:
            return None  # also when the backend's own imports are broken
    return getattr(_provider, name, None)


def spec_call(name, *args, **kwargs):
    """Call the backend's function; None when there is none (or when it returned None)."""
    func = _function(name)
    return func(*args, **kwargs) if func is not None else None


def spec_func(name):
    """The backend's function, or None."""
    return _function(name)
