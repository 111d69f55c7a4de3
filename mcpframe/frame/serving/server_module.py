"""The serving modules: for objects of mcp 2.x, for those of other SDKs, for console scripts, for servers in workers."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

from mcpframe.frame.compat import sdk
from mcpframe.frame.serving.framed import Framed, unwrapped

if TYPE_CHECKING:
    from mcpframe.frame.serving.interfaces import ServerModule


def server_module(program: str = "", target: object = None) -> ServerModule:
    """Return the module for a console script, or for server objects of the SDK that is installed.

    It imports that SDK: call `sdk.prepare` before.

    Args:
        program: The name of the console script; empty for an object.
        target: The object, if it is known.
    """
    if isinstance(target, Framed) and target.served_by:
        module = import_module(target.served_by)
    elif program:
        module = import_module("mcpframe.frame.serving.console")
    elif sdk.major() == 1 or (sdk.has_fastmcp() if target is None else sdk.is_of_fastmcp(unwrapped(target))):
        module = import_module("mcpframe.frame.serving.other_server")
    else:
        module = import_module("mcpframe.frame.serving.server")
    return cast("ServerModule", module)
