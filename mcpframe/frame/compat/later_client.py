"""The SDK's client, imported when it is first used: `import mcp` imports all of it, and a server uses none of it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

PACKAGE = "mcp.client"


class _Name:
    """Stands for a name that is imported from a module."""

    def __init__(self, module: str, name: str) -> None:
        self.module = module
        self.name = name


class _StandIn(ModuleType):
    """A module of the client while `mcp` is imported."""

    def __getattr__(self, name: str) -> _Name:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Name(self.__name__, name)


class LaterClient(MetaPathFinder, Loader):
    """Finds the modules of the client: stand-ins of them while `mcp` is imported, and then the real ones.

    Args:
        importing: Returns the context in which each of the real ones is imported.
    """

    def __init__(self, importing: Callable[[], AbstractContextManager[None]]) -> None:
        self._importing = importing
        self._waits = False

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != PACKAGE and not fullname.startswith(f"{PACKAGE}."):
            return None
        if self._waits:
            return ModuleSpec(fullname, self, is_package=True)
        others = (finder.find_spec(fullname, path, target) for finder in sys.meta_path if finder is not self)
        spec = next(filter(None, others), None)
        if spec and spec.loader:
            execute = spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                with self._importing():
                    execute(module)

            setattr(spec.loader, "exec_module", exec_module)  # noqa: B010
        return spec

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _StandIn(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: the names of a stand-in are created on access."""

    @contextmanager
    def postponed(self) -> Iterator[None]:
        """Import the client, in this block, when one of its names is used. `mcp` has to be imported in it first."""
        sys.meta_path.insert(0, self)
        self._waits = True
        try:
            yield
        finally:
            self._waits = False
            modules = [name for name, module in sys.modules.items() if isinstance(module, _StandIn)]
            for name in modules:
                del sys.modules[name]
        package: Any = sys.modules["mcp"]
        vars(package).pop("client", None)
        later = {name: value for name, value in vars(package).items() if isinstance(value, _Name)}
        for name in later:
            delattr(package, name)

        def attribute(name: str) -> Any:
            if name == "client":
                for module in modules:
                    import_module(module)
                return sys.modules[PACKAGE]
            if name not in later:
                raise AttributeError(f"module 'mcp' has no attribute {name!r}")
            value = getattr(import_module(later[name].module), later[name].name)
            setattr(package, name, value)
            return value

        package.__getattr__ = attribute
