"""Earlier behaviour of pydantic, for libraries for mcp 1.x: see `sdk.prepare`.

Pyodide has wheels of the current pydantic only, and older releases of the libraries set no upper bound:

1. mcp before 1.22 imports `eval_type_backport` from an internal module, which pydantic 2.14 lacks.
2. fastmcp before 2.12 has settings with a default and a default_factory, an error since pydantic 2.12. Before, the
   default took precedence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

BUNDLED_WITH = ("mcp1",)


@contextmanager
def as_before() -> Iterator[None]:
    """Import the modules of this block with the earlier behaviour of pydantic."""
    typing_extra: Any = import_module("pydantic._internal._typing_extra")
    if not hasattr(typing_extra, "eval_type_backport"):
        typing_extra.eval_type_backport = typing_extra.eval_type
    field: Any = import_module("pydantic.fields").FieldInfo
    construct = field.__dict__.get("_construct")
    if construct is None:
        yield
        return
    field._construct = staticmethod(_default_first(field, field._construct))
    try:
        yield
    finally:
        field._construct = construct


def _default_first(field: type, construct: Callable[..., Any]) -> Callable[..., Any]:
    def _construct(metadata: list[Any], **attributes: Any) -> Any:
        if "default" in attributes:
            metadata = [_without_factory(item) if isinstance(item, field) else item for item in metadata]
        return construct(metadata, **attributes)

    return _construct


def _without_factory(info: Any) -> Any:
    if info.default_factory is None:
        return info
    changed = info._copy()
    changed._attributes_set.pop("default_factory", None)
    changed.default_factory = None
    return changed
