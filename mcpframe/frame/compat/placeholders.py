"""Stand-ins for packages that the official SDK imports but that serving over streams never uses.

The SDK imports its HTTP stack at module level. In a browser frame that stack is unused and large, and parts of it have
no WebAssembly wheel. A `PlaceholderFinder` at the end of `sys.meta_path` answers those imports if the real package is
missing (the ordinary finders come first, so a real one takes precedence). Every attribute of a placeholder is a class
that works in an annotation, an `except` clause, an `isinstance` or a list of base classes, and raises an ImportError
with advice when it is called or one of its attributes is used.

Only the modules of the named users get placeholders. For any other library that probes with `try: import cryptography`
the package is absent, which is correct. (In bundles of third-party servers, `third_party_placeholders` answers others.)
"""

from __future__ import annotations

import sys
from abc import ABCMeta
from collections.abc import Collection, Iterator, Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Final, NoReturn

from mcpframe.frame.compat.placeholder_advice import MODULES

_ADVICE: Final = "{1} If the server itself needs it, add {0!r} to its requirements (project.dependencies)."
FIND_SPEC: Final = ("importlib.util", "find_spec")


class PlaceholderError(ImportError):
    """A placeholder of an absent package was used. `name` is the package; the message has advice."""


class _PlaceholderType(ABCMeta):
    """The metaclass of a placeholder's attributes. Derived from ABCMeta, so that they can be combined with ABC."""

    _mcpframe_message: str
    _mcpframe_package: str

    def __call__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        raise PlaceholderError(cls._mcpframe_message, name=cls._mcpframe_package)

    def __getattr__(cls, name: str) -> NoReturn:
        if name.startswith("_"):  # typing, abc and inspect probe for these
            raise AttributeError(name)
        raise PlaceholderError(cls._mcpframe_message, name=cls._mcpframe_package)

    def __getitem__(cls, parameters: object) -> _PlaceholderType:
        return cls


class PlaceholderModule(ModuleType):
    """A module whose every attribute is a placeholder class. Submodules are found by the finder."""

    def __init__(self, name: str, hint: str) -> None:
        super().__init__(name)
        self._hint = hint

    def __getattr__(self, name: str) -> _PlaceholderType:
        if name.startswith("_"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        package = self.__name__.partition(".")[0]
        namespace = {
            "__module__": self.__name__,
            "_mcpframe_package": package,
            "_mcpframe_message": f"{self.__name__}.{name} is not available in this page, because the package "
            f"{package!r} is not part of the bundle. {self._hint}",
        }
        # Derived from Exception, as an `except` clause requires.
        placeholder = _PlaceholderType(name, (Exception,), namespace)
        setattr(self, name, placeholder)
        return placeholder


class PlaceholderFinder(MetaPathFinder, Loader):
    """Answers the imports of absent packages.

    Args:
        hints: the advice about each package, as a sentence, by top-level module name.
        users: the top-level packages whose imports are answered.
    """

    def __init__(self, hints: Mapping[str, str], users: Collection[str]) -> None:
        self._hints = dict(hints)
        self._users = frozenset(users)
        self._modules: dict[str, PlaceholderModule] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package, _, rest = fullname.partition(".")
        if package not in self._hints:
            return None
        # A missing submodule of a real package is not ours to answer.
        present = isinstance(sys.modules.get(package), PlaceholderModule) if rest else self._answers()
        return ModuleSpec(fullname, self, is_package=True) if present else None

    def _answers(self) -> bool:
        """Return whether the module that imports the package gets a placeholder."""
        module, *_ = next(importers(), ("",))
        return module.partition(".")[0] in self._users

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        if spec.name not in self._modules:
            hint = self._hints[spec.name.partition(".")[0]]
            self._modules[spec.name] = PlaceholderModule(spec.name, hint)
        return self._modules[spec.name]

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: a placeholder's attributes are created on access."""

    def withdraw(self) -> None:
        """Remove the placeholders created so far from `sys.modules`. Names imported from them stay usable."""
        for name, module in self._modules.items():
            if sys.modules.get(name) is module:
                del sys.modules[name]


def importers() -> Iterator[tuple[str, str, int]]:
    """Yield the module, the function and the line of each frame above an import that is answered, the innermost first.

    Of the import system's own frames only `FIND_SPEC` is among them.
    """
    frame = sys._getframe(1)
    while frame.f_back is not None:
        frame = frame.f_back
        module, function = str(frame.f_globals.get("__name__", "")), frame.f_code.co_name
        if (module, function) == FIND_SPEC or not module.startswith(_MACHINERY):
            yield module, function, frame.f_lineno


_MACHINERY = (__name__, "importlib", "_frozen_importlib")


def advice() -> dict[str, str]:
    """Return the hints about the packages that every bundle like this one leaves out, by module."""
    return {module: _ADVICE.format(*about).lstrip() for module, about in MODULES.items()}
