"""MCP servers in Python that run inside a browser frame.

Public names: `FrameServer`, `load`, and `errors`, the module of everything mcpframe raises. They are imported when they
are first used, so importing mcpframe costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcpframe.frame import errors as errors
    from mcpframe.frame.load import load as load
    from mcpframe.frame.server import FrameServer as FrameServer

__all__ = ["FrameServer", "errors", "load"]

_HOME = {
    "FrameServer": "mcpframe.frame.server:FrameServer",
    "errors": "mcpframe.frame.errors:",
    "load": "mcpframe.frame.load:load",
}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module_name, _, attribute = _HOME[name].partition(":")
    module = import_module(module_name)
    globals()[name] = value = getattr(module, attribute) if attribute else module
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
