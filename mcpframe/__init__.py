"""MCP servers in Python that run inside a browser frame: the names for authors of servers and pages.

`hosts`, `wire`, `hub`, `views` and `testing` have the names for others; docs/reference/python.md documents
all. Each name is listed once, as an import for type checkers, and imported when it is first used. So importing mcpframe
costs nothing, and works with any version of the SDK.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

NAMES: dict[str, dict[str, str]] = {}
"""The names of public modules, and where each is defined. The build writes it for a bundle, which has no sources."""


def on_demand(public: str) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return the `__getattr__` and `__dir__` of a public module, for the names that it lists."""

    def homes() -> dict[str, str]:
        if public not in NAMES:
            import inspect
            import re

            listed = r"^    from (mcpframe\.\S+) import (\w+) as \w+$"
            imports = re.findall(listed, inspect.getsource(sys.modules[public]), re.MULTILINE)
            NAMES[public] = {name: module for module, name in imports}
        return NAMES[public]

    def get(name: str) -> object:
        if name == "__all__":
            return list(homes())
        if name.startswith("__") or name not in homes():
            raise AttributeError(f"module {public!r} has no attribute {name!r}")
        try:
            home = import_module(homes()[name])
            # `errors` is a module.
            value: object = getattr(home, name) if hasattr(home, name) else import_module(f"{home.__name__}.{name}")
        except ModuleNotFoundError as error:
            if error.name != "mcp_types":
                raise
            from mcpframe.frame.core.errors import SdkError

            raise SdkError(
                f"{public}.{name} needs mcp 2.x; for a server of mcp 1.x, which is here, use mcpframe.wrap."
            ) from error
        setattr(sys.modules[public], name, value)
        return value

    return get, lambda: sorted({*vars(sys.modules[public]), *homes()})


if TYPE_CHECKING:
    from mcpframe.frame.core import errors as errors
    from mcpframe.frame.core.errors import SetupCancelled as SetupCancelled
    from mcpframe.frame.core.errors import SetupFailed as SetupFailed
    from mcpframe.frame.core.setup import Permission as Permission
    from mcpframe.frame.host_api.connect import connect_to_host as connect_to_host
    from mcpframe.frame.host_api.context import Container as Container
    from mcpframe.frame.host_api.context import HostContext as HostContext
    from mcpframe.frame.host_api.context import Insets as Insets
    from mcpframe.frame.host_api.context import ToolCancelled as ToolCancelled
    from mcpframe.frame.host_api.context import ToolInput as ToolInput
    from mcpframe.frame.host_api.context import ToolInputPartial as ToolInputPartial
    from mcpframe.frame.host_api.context import ToolResult as ToolResult
    from mcpframe.frame.host_api.host import Host as Host
    from mcpframe.frame.hosting.mcp_ui.resource import ui_resource as ui_resource
    from mcpframe.frame.page.elements import Classes as Classes
    from mcpframe.frame.page.elements import Element as Element
    from mcpframe.frame.page.elements import File as File
    from mcpframe.frame.page.elements import PageEvent as PageEvent
    from mcpframe.frame.page.load import load as load
    from mcpframe.frame.page.session_page import Page as Page
    from mcpframe.frame.page_server.server import page_server as page_server
    from mcpframe.frame.serving.author_setup import Setup as Setup
    from mcpframe.frame.serving.frame_session import FrameSession as FrameSession
    from mcpframe.frame.serving.kept import Kept as Kept
    from mcpframe.frame.serving.kept import kept as kept
    from mcpframe.frame.serving.server import FrameServer as FrameServer
    from mcpframe.frame.serving.tasks import Tasks as Tasks
    from mcpframe.frame.serving.wrapped import WrappedServer as WrappedServer
    from mcpframe.frame.serving.wrapped import wrap as wrap
    from mcpframe.frame.storage.values import Storage as Storage
    from mcpframe.frame.worker.in_process import in_process as in_process
else:
    __getattr__, __dir__ = on_demand(__name__)
