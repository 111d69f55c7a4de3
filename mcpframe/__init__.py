"""MCP servers in Python that run inside a browser frame.

The public names are those of `__all__`; `docs/reference.md` documents each, and groups them by who needs them. They are
imported when they are first used, so importing mcpframe costs nothing, and works with any version of the SDK.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcpframe.frame.app_host import AppHost as AppHost
    from mcpframe.frame.app_host_view import RunningView as RunningView
    from mcpframe.frame.author import FrameSession as FrameSession
    from mcpframe.frame.author_setup import Setup as Setup
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
    from mcpframe.frame.elements import Classes as Classes
    from mcpframe.frame.elements import Element as Element
    from mcpframe.frame.elements import File as File
    from mcpframe.frame.elements import PageEvent as PageEvent
    from mcpframe.frame.host import Host as Host
    from mcpframe.frame.host_context import Container as Container
    from mcpframe.frame.host_context import HostContext as HostContext
    from mcpframe.frame.host_context import Insets as Insets
    from mcpframe.frame.host_context import ToolCancelled as ToolCancelled
    from mcpframe.frame.host_context import ToolInput as ToolInput
    from mcpframe.frame.host_context import ToolInputPartial as ToolInputPartial
    from mcpframe.frame.host_context import ToolResult as ToolResult
    from mcpframe.frame.host_link import connect_to_host as connect_to_host
    from mcpframe.frame.load import load as load
    from mcpframe.frame.outer import OuterFrame as OuterFrame
    from mcpframe.frame.outer import RunningSetup as RunningSetup
    from mcpframe.frame.page_clients import iframe_client as iframe_client
    from mcpframe.frame.page_clients import tab_client as tab_client
    from mcpframe.frame.page_server import page_server as page_server
    from mcpframe.frame.places import POPUP as POPUP
    from mcpframe.frame.places import SANDBOX as SANDBOX
    from mcpframe.frame.places import NoHandshake as NoHandshake
    from mcpframe.frame.places import VisibilityChanged as VisibilityChanged
    from mcpframe.frame.server import FrameServer as FrameServer
    from mcpframe.frame.server import serve as serve
    from mcpframe.frame.setup_phase import Permission as Permission
    from mcpframe.frame.setup_phase import SetupCompleted as SetupCompleted
    from mcpframe.frame.setup_phase import SetupErrorCode as SetupErrorCode
    from mcpframe.frame.setup_phase import SetupReason as SetupReason
    from mcpframe.frame.setup_phase import SetupRequired as SetupRequired
    from mcpframe.frame.setup_phase import SetupResult as SetupResult
    from mcpframe.frame.setup_phase import SetupStarted as SetupStarted
    from mcpframe.frame.setup_phase import Visibility as Visibility
    from mcpframe.frame.storage import Storage as Storage
    from mcpframe.frame.ui import Page as Page
    from mcpframe.frame.ui_host import UiHost as UiHost
    from mcpframe.frame.ui_host_actions import ShownUi as ShownUi
    from mcpframe.frame.ui_host_actions import UiAction as UiAction
    from mcpframe.frame.ui_resource import ui_resource as ui_resource
    from mcpframe.frame.web_mcp.client import model_context_client as model_context_client
    from mcpframe.frame.wrapped import WrappedServer as WrappedServer
    from mcpframe.frame.wrapped import wrap as wrap

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
    "POPUP": "mcpframe.frame.places:POPUP",
    "SANDBOX": "mcpframe.frame.places:SANDBOX",
    "AppHost": "mcpframe.frame.app_host:AppHost",
    "Classes": "mcpframe.frame.elements:Classes",
    "Closed": "mcpframe.frame.core.events:Closed",
    "Container": "mcpframe.frame.host_context:Container",
    "Element": "mcpframe.frame.elements:Element",
    "File": "mcpframe.frame.elements:File",
    "FrameServer": "mcpframe.frame.server:FrameServer",
    "FrameSession": "mcpframe.frame.author:FrameSession",
    "Host": "mcpframe.frame.host:Host",
    "HostContext": "mcpframe.frame.host_context:HostContext",
    "Insets": "mcpframe.frame.host_context:Insets",
    "NoHandshake": "mcpframe.frame.places:NoHandshake",
    "Opened": "mcpframe.frame.core.events:Opened",
    "Options": "mcpframe.frame.core.roles:Options",
    "OuterFrame": "mcpframe.frame.outer:OuterFrame",
    "Page": "mcpframe.frame.ui:Page",
    "PageEvent": "mcpframe.frame.elements:PageEvent",
    "Permission": "mcpframe.frame.setup_phase:Permission",
    "Refused": "mcpframe.frame.core.events:Refused",
    "RunningSetup": "mcpframe.frame.outer:RunningSetup",
    "RunningView": "mcpframe.frame.app_host_view:RunningView",
    "Setup": "mcpframe.frame.author_setup:Setup",
    "SetupCancelled": "mcpframe.frame.core.errors:SetupCancelled",
    "SetupCompleted": "mcpframe.frame.setup_phase:SetupCompleted",
    "SetupErrorCode": "mcpframe.frame.setup_phase:SetupErrorCode",
    "SetupFailed": "mcpframe.frame.core.errors:SetupFailed",
    "SetupReason": "mcpframe.frame.setup_phase:SetupReason",
    "SetupRequired": "mcpframe.frame.setup_phase:SetupRequired",
    "SetupResult": "mcpframe.frame.setup_phase:SetupResult",
    "SetupStarted": "mcpframe.frame.setup_phase:SetupStarted",
    "ShownUi": "mcpframe.frame.ui_host_actions:ShownUi",
    "Storage": "mcpframe.frame.storage:Storage",
    "ToolCancelled": "mcpframe.frame.host_context:ToolCancelled",
    "ToolInput": "mcpframe.frame.host_context:ToolInput",
    "ToolInputPartial": "mcpframe.frame.host_context:ToolInputPartial",
    "ToolResult": "mcpframe.frame.host_context:ToolResult",
    "UiAction": "mcpframe.frame.ui_host_actions:UiAction",
    "UiHost": "mcpframe.frame.ui_host:UiHost",
    "Unresponsive": "mcpframe.frame.core.events:Unresponsive",
    "Visibility": "mcpframe.frame.setup_phase:Visibility",
    "VisibilityChanged": "mcpframe.frame.places:VisibilityChanged",
    "Wire": "mcpframe.frame.core.events:Wire",
    "Withdrawn": "mcpframe.frame.core.events:Withdrawn",
    "WrappedServer": "mcpframe.frame.wrapped:WrappedServer",
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
