"""Modules of the standard library that Python and the SDK import and no start runs: imported anew when they are used.

The page of a snapshot drops them before it imports anything of the author's. What has imported one of them keeps its
module object, which is empty until an attribute is read or something imports it: then it is imported into that object.
"""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Collection, Iterable, Mapping
from functools import partial
from importlib import import_module
from importlib.abc import MetaPathFinder
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec

NAMES = frozenset(
    {
        *("_opcode_metadata", "asyncio.sslproto", "bz2", "dis", "html", "html.entities", "locale", "lzma"),
        *("mimetypes", "opcode", "subprocess", "sysconfig", "_sysconfigdata__emscripten_wasm32-emscripten"),
        *("tempfile", "zipfile", "zipfile._path", "zipfile._path.glob"),
    }
)
"""The modules. Their state is what their import makes it, and others use them through the module object."""


class _Later(ModuleType):
    """A module that is imported when an attribute of it is read."""

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self.__name__), name)

    def __dir__(self) -> list[str]:
        return dir(import_module(self.__name__))


class LaterModules(MetaPathFinder):
    """Finds dropped modules where others find them, and has them imported into the objects that they were."""

    def __init__(self) -> None:
        self._modules: dict[str, ModuleType] = {}

    def expect(self, modules: Mapping[str, ModuleType]) -> None:
        """Find these modules, too."""
        self._modules.update(modules)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in self._modules:
            return None
        others = (finder.find_spec(fullname, path, target) for finder in sys.meta_path if finder is not self)
        spec = next(filter(None, others), None)
        if spec and spec.loader:
            self._adapt(spec.loader)
        return spec

    def _adapt(self, loader: Any) -> None:
        execute = loader.exec_module

        def create_module(spec: ModuleSpec) -> ModuleType:
            module = self._modules[spec.name]
            setattr(module, "__class__", ModuleType)  # noqa: B010
            return module

        def exec_module(module: ModuleType) -> None:
            try:
                execute(module)
            except BaseException:
                _empty(module)  # to be tried again
                raise
            self._modules.pop(module.__name__, None)

        loader.create_module, loader.exec_module = create_module, exec_module


FINDER = LaterModules()
"""That of this Python, for `sys.meta_path`."""


def drop(names: Collection[str], callers: Iterable[ModuleType] = ()) -> list[str]:
    """Drop modules until they are used.

    Args:
        callers: Modules that have imported functions and classes of them by name, and only call these.

    Returns:
        Those of which something keeps a function or a class. Then this Python cannot go on: their modules are empty.
    """
    modules = {name: module for name, module in sys.modules.items() if name in names}
    for caller in callers:
        called = {name: getattr(value, "__module__", "") for name, value in vars(caller).items()}
        vars(caller).update({name: partial(_call, each, name) for name, each in called.items() if each in modules})
    defined = [
        (name, weakref.ref(value))
        for name, module in modules.items()
        for value in vars(module).values()
        if isinstance(value, FunctionType | type)
        and value.__module__ == name
        and value is not getattr(sys.modules.get(f"_{name}"), value.__name__, None)  # its part in C, which stays
    ]
    FINDER.expect(modules)
    for name, module in modules.items():
        del sys.modules[name]
        _empty(module)
    gc.collect()
    return sorted({name for name, value in defined if value() is not None})


def _call(module: str, name: str, *args: Any, **options: Any) -> Any:
    return getattr(import_module(module), name)(*args, **options)


def _empty(module: ModuleType) -> None:
    name = module.__name__
    vars(module).clear()
    setattr(module, "__class__", _Later)  # noqa: B010
    module.__name__ = name
