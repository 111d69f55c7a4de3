"""Docstrings that the build removes from the modules of a page's start, restored when they are read.

They are a tenth of what a page loads. Those stay from which descriptions of tools and schemas are made (see
`in_pyodide/compile.py` of the build). The others are in a file among the deferred modules, which `help` needs anyway:
the import of `pydoc`, and `inspect.getdoc` for an object without a docstring, set them again.
"""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Mapping
from contextlib import suppress
from importlib.abc import MetaPathFinder
from importlib.machinery import PathFinder
from types import FunctionType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

FILE = "std/docstrings.json"
"""The file below `LIBRARY`: `{module: {qualified name: docstring}}`; "" names the module."""
LIBRARY = f"/lib/python{sys.version_info.major}.{sys.version_info.minor}/"
"""The folder of the standard library and of the SDK in a page."""

_getdoc = inspect.getdoc


def restore_when_read() -> None:
    """Restore docstrings when `help` or `inspect.getdoc` reads them."""
    restorer = Restorer(LIBRARY + FILE)
    sys.meta_path.insert(0, restorer)
    setattr(inspect, "getdoc", restorer.getdoc)  # noqa: B010


class Restorer(MetaPathFinder):
    """Finds no module itself, but sees which are imported.

    Args:
        path: The file of the docstrings. It is read once.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._docstrings: dict[str, Mapping[str, str]] | None = None

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname == "pydoc":
            self.restore()
        if not self._docstrings or fullname not in self._docstrings:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec and spec.loader:
            execute = spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                execute(module)
                self._restore(module)

            setattr(spec.loader, "exec_module", exec_module)  # noqa: B010
        return spec

    def getdoc(self, object: Any) -> str | None:  # noqa: A002  as in `inspect`
        """Return the documentation of an object: see `inspect.getdoc`."""
        doc = _getdoc(object)
        if doc is None and self._docstrings is None and _is_of_a_library(object):
            self.restore()
            doc = _getdoc(object)
        return doc

    def restore(self) -> None:
        """Set the docstrings of all modules that are imported; later ones get theirs as they are imported."""
        if self._docstrings is not None:
            return
        self._docstrings = {}
        with suppress(OSError), open(self._path, encoding="utf-8") as file:  # noqa: PTH123
            self._docstrings = json.load(file)
        for name in self._docstrings:
            if module := sys.modules.get(name):
                self._restore(module)

    def _restore(self, module: ModuleType) -> None:
        for name, docstring in (self._docstrings or {}).get(module.__name__, {}).items():
            for target in _named(module, name):
                if target.__doc__ is None:
                    with suppress(AttributeError, TypeError):
                        target.__doc__ = docstring


def _is_of_a_library(object: Any) -> bool:  # noqa: A002
    owner = getattr(object, "fget", None) or object
    name = getattr(owner, "__module__", None) or getattr(owner, "__name__", None)
    return str(getattr(sys.modules.get(str(name)), "__file__", None)).startswith(LIBRARY)


def _named(module: ModuleType, name: str) -> list[Any]:
    """Return the object of this qualified name, and the functions in it if it wraps one; nothing if it is another."""
    objects: list[Any] = [module]
    for part in name.split(".") if name else ():
        owner = objects[0]
        is_private = part.startswith("__") and not part.endswith("__")
        key = f"_{getattr(owner, '__name__', '').lstrip('_')}{part}" if is_private else part
        objects = [getattr(owner, "__dict__", {}).get(key)]
    while inner := next(filter(None, (_attribute(objects[-1], each) for each in _INNER)), None):
        objects.append(inner)
    last = objects[-1]
    its = last.__code__.co_qualname if isinstance(last, FunctionType) else getattr(last, "__qualname__", None)
    return objects if last is module or its == name else []


_INNER = ("__wrapped__", "__func__", "fget", "func")
"""The function in a decorated one, a class method, a property, a cached property."""


def _attribute(value: Any, name: str) -> Any:
    try:
        return None if isinstance(value, type) else getattr(value, name, None)
    except Exception:  # noqa: BLE001  objects in a module may compute attributes
        return None
