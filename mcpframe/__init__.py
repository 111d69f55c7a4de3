"""MCP servers in Python that run inside a browser frame.

The public names are those of `__all__`; `docs/reference/python.md` documents each, by who needs them. Each is imported
when it is first used, so that importing mcpframe costs nothing, and works with any version of the SDK.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcpframe.frame.core import errors
    from mcpframe.frame.core.errors import SetupCancelled as SetupCancelled
    from mcpframe.frame.core.errors import SetupFailed as SetupFailed
    from mcpframe.frame.core.events import Closed as Closed
    from mcpframe.frame.core.events import Opened as Opened
    from mcpframe.frame.core.events import Refused as Refused
    from mcpframe.frame.core.events import Unresponsive as Unresponsive
    from mcpframe.frame.core.events import Wire as Wire
    from mcpframe.frame.core.events import Withdrawn as Withdrawn
    from mcpframe.frame.core.roles import Options as Options
    from mcpframe.frame.host_api.connect import connect_to_host as connect_to_host
    from mcpframe.frame.host_api.context import Container as Container
    from mcpframe.frame.host_api.context import HostContext as HostContext
    from mcpframe.frame.host_api.context import Insets as Insets
    from mcpframe.frame.host_api.context import ToolCancelled as ToolCancelled
    from mcpframe.frame.host_api.context import ToolInput as ToolInput
    from mcpframe.frame.host_api.context import ToolInputPartial as ToolInputPartial
    from mcpframe.frame.host_api.context import ToolResult as ToolResult
    from mcpframe.frame.host_api.host import Host as Host
    from mcpframe.frame.hosting.mcp_apps.host import AppHost as AppHost
    from mcpframe.frame.hosting.mcp_apps.view import RunningView as RunningView
    from mcpframe.frame.hosting.mcp_ui.actions import ShownUi as ShownUi
    from mcpframe.frame.hosting.mcp_ui.actions import UiAction as UiAction
    from mcpframe.frame.hosting.mcp_ui.host import UiHost as UiHost
    from mcpframe.frame.hosting.mcp_ui.resource import ui_resource as ui_resource
    from mcpframe.frame.hosting.outer import OuterFrame as OuterFrame
    from mcpframe.frame.hosting.outer import RunningSetup as RunningSetup
    from mcpframe.frame.page.elements import Classes as Classes
    from mcpframe.frame.page.elements import Element as Element
    from mcpframe.frame.page.elements import File as File
    from mcpframe.frame.page.elements import PageEvent as PageEvent
    from mcpframe.frame.page.load import load as load
    from mcpframe.frame.page.session_page import Page as Page
    from mcpframe.frame.page_server.clients import iframe_client as iframe_client
    from mcpframe.frame.page_server.clients import tab_client as tab_client
    from mcpframe.frame.page_server.server import page_server as page_server
    from mcpframe.frame.serving.author import FrameSession as FrameSession
    from mcpframe.frame.serving.server import FrameServer as FrameServer
    from mcpframe.frame.serving.server import serve as serve
    from mcpframe.frame.serving.setup import Setup as Setup
    from mcpframe.frame.serving.wrapped import WrappedServer as WrappedServer
    from mcpframe.frame.serving.wrapped import wrap as wrap
    from mcpframe.frame.session.places import POPUP as POPUP
    from mcpframe.frame.session.places import SANDBOX as SANDBOX
    from mcpframe.frame.session.places import NoHandshake as NoHandshake
    from mcpframe.frame.session.places import VisibilityChanged as VisibilityChanged
    from mcpframe.frame.session.setup import Permission as Permission
    from mcpframe.frame.session.setup import SetupCompleted as SetupCompleted
    from mcpframe.frame.session.setup import SetupErrorCode as SetupErrorCode
    from mcpframe.frame.session.setup import SetupReason as SetupReason
    from mcpframe.frame.session.setup import SetupRequired as SetupRequired
    from mcpframe.frame.session.setup import SetupResult as SetupResult
    from mcpframe.frame.session.setup import SetupStarted as SetupStarted
    from mcpframe.frame.session.setup import Visibility as Visibility
    from mcpframe.frame.storage.values import Storage as Storage
    from mcpframe.frame.webmcp.client import model_context_client as model_context_client

__all__ = [
    "POPUP",
    "SANDBOX",
    "AppHost",
    "Classes",
    "Closed",
    "Container",
    "Element",
    "File",
    "FrameServer",
    "FrameSession",
    "Host",
    "HostContext",
    "Insets",
    "NoHandshake",
    "Opened",
    "Options",
    "OuterFrame",
    "Page",
    "PageEvent",
    "Permission",
    "Refused",
    "RunningSetup",
    "RunningView",
    "Setup",
    "SetupCancelled",
    "SetupCompleted",
    "SetupErrorCode",
    "SetupFailed",
    "SetupReason",
    "SetupRequired",
    "SetupResult",
    "SetupStarted",
    "ShownUi",
    "Storage",
    "ToolCancelled",
    "ToolInput",
    "ToolInputPartial",
    "ToolResult",
    "UiAction",
    "UiHost",
    "Unresponsive",
    "Visibility",
    "VisibilityChanged",
    "Wire",
    "Withdrawn",
    "WrappedServer",
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

HOMES = {
    "POPUP": "mcpframe.frame.session.places:POPUP",
    "SANDBOX": "mcpframe.frame.session.places:SANDBOX",
    "AppHost": "mcpframe.frame.hosting.mcp_apps.host:AppHost",
    "Classes": "mcpframe.frame.page.elements:Classes",
    "Closed": "mcpframe.frame.core.events:Closed",
    "Container": "mcpframe.frame.host_api.context:Container",
    "Element": "mcpframe.frame.page.elements:Element",
    "File": "mcpframe.frame.page.elements:File",
    "FrameServer": "mcpframe.frame.serving.server:FrameServer",
    "FrameSession": "mcpframe.frame.serving.author:FrameSession",
    "Host": "mcpframe.frame.host_api.host:Host",
    "HostContext": "mcpframe.frame.host_api.context:HostContext",
    "Insets": "mcpframe.frame.host_api.context:Insets",
    "NoHandshake": "mcpframe.frame.session.places:NoHandshake",
    "Opened": "mcpframe.frame.core.events:Opened",
    "Options": "mcpframe.frame.core.roles:Options",
    "OuterFrame": "mcpframe.frame.hosting.outer:OuterFrame",
    "Page": "mcpframe.frame.page.session_page:Page",
    "PageEvent": "mcpframe.frame.page.elements:PageEvent",
    "Permission": "mcpframe.frame.session.setup:Permission",
    "Refused": "mcpframe.frame.core.events:Refused",
    "RunningSetup": "mcpframe.frame.hosting.outer:RunningSetup",
    "RunningView": "mcpframe.frame.hosting.mcp_apps.view:RunningView",
    "Setup": "mcpframe.frame.serving.setup:Setup",
    "SetupCancelled": "mcpframe.frame.core.errors:SetupCancelled",
    "SetupCompleted": "mcpframe.frame.session.setup:SetupCompleted",
    "SetupErrorCode": "mcpframe.frame.session.setup:SetupErrorCode",
    "SetupFailed": "mcpframe.frame.core.errors:SetupFailed",
    "SetupReason": "mcpframe.frame.session.setup:SetupReason",
    "SetupRequired": "mcpframe.frame.session.setup:SetupRequired",
    "SetupResult": "mcpframe.frame.session.setup:SetupResult",
    "SetupStarted": "mcpframe.frame.session.setup:SetupStarted",
    "ShownUi": "mcpframe.frame.hosting.mcp_ui.actions:ShownUi",
    "Storage": "mcpframe.frame.storage.values:Storage",
    "ToolCancelled": "mcpframe.frame.host_api.context:ToolCancelled",
    "ToolInput": "mcpframe.frame.host_api.context:ToolInput",
    "ToolInputPartial": "mcpframe.frame.host_api.context:ToolInputPartial",
    "ToolResult": "mcpframe.frame.host_api.context:ToolResult",
    "UiAction": "mcpframe.frame.hosting.mcp_ui.actions:UiAction",
    "UiHost": "mcpframe.frame.hosting.mcp_ui.host:UiHost",
    "Unresponsive": "mcpframe.frame.core.events:Unresponsive",
    "Visibility": "mcpframe.frame.session.setup:Visibility",
    "VisibilityChanged": "mcpframe.frame.session.places:VisibilityChanged",
    "Wire": "mcpframe.frame.core.events:Wire",
    "Withdrawn": "mcpframe.frame.core.events:Withdrawn",
    "WrappedServer": "mcpframe.frame.serving.wrapped:WrappedServer",
    "connect_to_host": "mcpframe.frame.host_api.connect:connect_to_host",
    "errors": "mcpframe.frame.core.errors:",
    "iframe_client": "mcpframe.frame.page_server.clients:iframe_client",
    "load": "mcpframe.frame.page.load:load",
    "model_context_client": "mcpframe.frame.webmcp.client:model_context_client",
    "page_server": "mcpframe.frame.page_server.server:page_server",
    "serve": "mcpframe.frame.serving.server:serve",
    "tab_client": "mcpframe.frame.page_server.clients:tab_client",
    "ui_resource": "mcpframe.frame.hosting.mcp_ui.resource:ui_resource",
    "wrap": "mcpframe.frame.serving.wrapped:wrap",
}
"""Where each public name is: bundles have the modules of those that their code uses."""


def __getattr__(name: str) -> object:
    if name not in HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module_name, _, attribute = HOMES[name].partition(":")
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
