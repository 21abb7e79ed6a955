"""Takes the model's modules from a compiled library, in a process that was asked to.

``PESSIM_COMPILED`` names the library; ``analysis.pipeline.compiled_model`` makes it from the very
source that is here, and says to whom it is given. Nothing lies beside the source: without the
variable Python finds the files and interprets them. A module that is not in the library is
interpreted, too.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ExtensionFileLoader, ModuleSpec, PathFinder
from importlib.util import module_from_spec
from pathlib import Path
from types import ModuleType
from typing import Final

VARIABLE: Final = "PESSIM_COMPILED"
LIBRARY: Final = "pessim__mypyc"
"""The module that holds all others; mypyc's name for the group ``pessim``."""

_SOURCE: Final = Path(__file__).resolve().parent.parent


class _Library(MetaPathFinder, Loader):
    """Finds and makes the modules of one library."""

    def __init__(self, path: str) -> None:
        loader = ExtensionFileLoader(LIBRARY, path)
        spec = ModuleSpec(LIBRARY, loader, origin=path)
        self._library = sys.modules[LIBRARY] = module_from_spec(spec)
        loader.exec_module(self._library)

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Says where a module of the model is: in the library, or in its file."""
        del path, target  # mypyc gives packages the library's folder as their path
        if not name.startswith("sim."):
            return None
        source = _SOURCE.joinpath(*name.split("."))
        if not hasattr(self._library, _maker(name)):
            return PathFinder.find_spec(name, [str(source.parent)])
        return ModuleSpec(name, self, origin=f"compiled {name}", is_package=source.is_dir())

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Calls the library's function that makes a module and runs its statements.

        As mypyc's own shims do (mypyc/lib-rt/module_shim.tmpl), of which each module would need
        one in a library of its own.
        """
        name = _maker(spec.name)
        address = ctypes.pythonapi.PyCapsule_GetPointer
        address.restype, address.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
        made = address(getattr(self._library, name), f"{LIBRARY}.{name}".encode())
        module: ModuleType = ctypes.PYFUNCTYPE(ctypes.py_object)(made)()
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Does nothing: the module's statements have run."""


def _maker(name: str) -> str:
    """Returns how the library calls the function that makes a module."""
    return "init_" + name.replace(".", "___")


def use_library() -> None:
    """Lets the modules imported from now on come from the library, if there is one."""
    path = os.environ.get(VARIABLE)
    if path and Path(path).is_file():
        sys.meta_path.insert(0, _Library(path))
