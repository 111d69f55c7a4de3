"""MCP servers in Python that run inside a browser frame.

Public names: `FrameServer`, what its functions take and give (`FrameSession`, `Setup`, `SetupCancelled`, `SetupFailed`,
`Permission`), and `load` for servers; `wrap`, which returns a server of any SDK with what a `FrameServer` has;
`Host`, `HostContext` and what a host tells a view of its tool call (`ToolInput`, `ToolInputPartial`, `ToolResult`,
`ToolCancelled`); `OuterFrame`, `AppHost`, `UiHost` and `POPUP` for hosts; `ui_resource` for servers whose hosts speak
mcp-ui; `connect_to_host`, `serve`, `page_server`, `tab_client`, `iframe_client`, `model_context_client` and `Page` for
pages that are no server; and `errors`, the module of everything mcpframe raises. They are imported when they are first
used, so importing mcpframe costs nothing, and works with any version of the SDK.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcpframe.frame.app_host import AppHost as AppHost
    from mcpframe.frame.author import FrameSession as FrameSession
    from mcpframe.frame.author_setup import Setup as Setup
    from mcpframe.frame.core import errors
    from mcpframe.frame.core.errors import SetupCancelled as SetupCancelled
    from mcpframe.frame.core.errors import SetupFailed as SetupFailed
    from mcpframe.frame.host import Host as Host
    from mcpframe.frame.host_context import HostContext as HostContext
    from mcpframe.frame.host_context import ToolCancelled as ToolCancelled
    from mcpframe.frame.host_context import ToolInput as ToolInput
    from mcpframe.frame.host_context import ToolInputPartial as ToolInputPartial
    from mcpframe.frame.host_context import ToolResult as ToolResult
    from mcpframe.frame.host_link import connect_to_host as connect_to_host
    from mcpframe.frame.load import load as load
    from mcpframe.frame.outer import OuterFrame as OuterFrame
    from mcpframe.frame.page_clients import iframe_client as iframe_client
    from mcpframe.frame.page_clients import tab_client as tab_client
    from mcpframe.frame.page_server import page_server as page_server
    from mcpframe.frame.places import POPUP as POPUP
    from mcpframe.frame.server import FrameServer as FrameServer
    from mcpframe.frame.server import serve as serve
    from mcpframe.frame.setup_phase import Permission as Permission
    from mcpframe.frame.ui import Page as Page
    from mcpframe.frame.ui_host import UiHost as UiHost
    from mcpframe.frame.ui_resource import ui_resource as ui_resource
    from mcpframe.frame.web_mcp.client import model_context_client as model_context_client
    from mcpframe.frame.wrapped import wrap as wrap

__all__ = [
    "POPUP",
    "AppHost",
    "FrameServer",
    "FrameSession",
    "Host",
    "HostContext",
    "OuterFrame",
    "Page",
    "Permission",
    "Setup",
    "SetupCancelled",
    "SetupFailed",
    "ToolCancelled",
    "ToolInput",
    "ToolInputPartial",
    "ToolResult",
    "UiHost",
    "connect_to_host",
    "errors",
    "iframe_client",
    "load",
    "model_context_client",
    "page_server",
    "serve",
    "tab_client",
    "ui_resource",
    "wrap",
]

_HOME = {
    "AppHost": "mcpframe.frame.app_host:AppHost",
    "FrameServer": "mcpframe.frame.server:FrameServer",
    "FrameSession": "mcpframe.frame.author:FrameSession",
    "Host": "mcpframe.frame.host:Host",
    "HostContext": "mcpframe.frame.host_context:HostContext",
    "OuterFrame": "mcpframe.frame.outer:OuterFrame",
    "POPUP": "mcpframe.frame.places:POPUP",
    "Page": "mcpframe.frame.ui:Page",
    "Permission": "mcpframe.frame.setup_phase:Permission",
    "Setup": "mcpframe.frame.author_setup:Setup",
    "SetupCancelled": "mcpframe.frame.core.errors:SetupCancelled",
    "SetupFailed": "mcpframe.frame.core.errors:SetupFailed",
    "ToolCancelled": "mcpframe.frame.host_context:ToolCancelled",
    "ToolInput": "mcpframe.frame.host_context:ToolInput",
    "ToolInputPartial": "mcpframe.frame.host_context:ToolInputPartial",
    "ToolResult": "mcpframe.frame.host_context:ToolResult",
    "UiHost": "mcpframe.frame.ui_host:UiHost",
    "connect_to_host": "mcpframe.frame.host_link:connect_to_host",
    "errors": "mcpframe.frame.core.errors:",
    "iframe_client": "mcpframe.frame.page_clients:iframe_client",
    "load": "mcpframe.frame.load:load",
    "model_context_client": "mcpframe.frame.web_mcp.client:model_context_client",
    "page_server": "mcpframe.frame.page_server:page_server",
    "serve": "mcpframe.frame.server:serve",
    "tab_client": "mcpframe.frame.page_clients:tab_client",
    "ui_resource": "mcpframe.frame.ui_resource:ui_resource",
    "wrap": "mcpframe.frame.wrapped:wrap",
}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module_name, _, attribute = _HOME[name].partition(":")
    try:
        module = import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name != "mcp_types":
            raise
        from mcpframe.frame.core.errors import SdkError

        raise SdkError(
            f"mcpframe.{name} needs mcp 2.x; for a server of mcp 1.x, which is here, use mcpframe.wrap."
        ) from error
    globals()[name] = value = getattr(module, attribute) if attribute else module
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
