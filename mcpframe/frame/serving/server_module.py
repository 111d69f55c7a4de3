"""The module that serves a server object or a program, by its SDK."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from mcpframe.frame.compat import sdk
from mcpframe.frame.serving.framed import unwrapped


def server_module(program: str = "", target: object = None) -> Any:
    """Return the module for server objects of an SDK that is there, or for programs.

    It imports that SDK: call `sdk.prepare` before.

    Args:
        program: the name of the program; empty for an object.
        target: the object, where it is known.
    """
    if program:
        return import_module("mcpframe.frame.serving.program.console")
    other = sdk.major() == 1 or (sdk.has_fastmcp() if target is None else sdk.is_of_fastmcp(unwrapped(target)))
    return import_module("mcpframe.frame.serving.other_server" if other else "mcpframe.frame.serving.server")
