"""MCP servers in Python that run inside a browser frame.

The public names are those of `HOMES`; `docs/reference/python.md` documents each, by who needs them. Each is imported
when it is first used, so that importing mcpframe costs nothing, and works with any version of the SDK.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcpframe.frame.core import errors as errors
    from mcpframe.frame.core.dialect import Dialect as Dialect
    from mcpframe.frame.core.errors import SetupCancelled as SetupCancelled
    from mcpframe.frame.core.errors import SetupFailed as SetupFailed
    from mcpframe.frame.core.events import Closed as Closed
    from mcpframe.frame.core.events import Opened as Opened
    from mcpframe.frame.core.events import Refused as Refused
    from mcpframe.frame.core.events import Unresponsive as Unresponsive
    from mcpframe.frame.core.events import Wire as Wire
    from mcpframe.frame.core.events import Withdrawn as Withdrawn
    from mcpframe.frame.core.payload import check_text as check_text
    from mcpframe.frame.core.places import POPUP as POPUP
    from mcpframe.frame.core.places import SANDBOX as SANDBOX
    from mcpframe.frame.core.places import NoHandshake as NoHandshake
    from mcpframe.frame.core.places import VisibilityChanged as VisibilityChanged
    from mcpframe.frame.core.places import parse_address as parse_address
    from mcpframe.frame.core.roles import Options as Options
    from mcpframe.frame.core.visible import visible as visible
    from mcpframe.frame.dialects.available import dialect as dialect
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
    from mcpframe.frame.hosting.mcp_apps.host_profiles import HOST_PROFILES as HOST_PROFILES
    from mcpframe.frame.hosting.mcp_apps.host_profiles import HostProfile as HostProfile
    from mcpframe.frame.hosting.mcp_apps.partial_arguments import partial_arguments as partial_arguments
    from mcpframe.frame.hosting.mcp_apps.view import RunningView as RunningView
    from mcpframe.frame.hosting.mcp_ui.actions import ShownUi as ShownUi
    from mcpframe.frame.hosting.mcp_ui.actions import UiAction as UiAction
    from mcpframe.frame.hosting.mcp_ui.host import UiHost as UiHost
    from mcpframe.frame.hosting.mcp_ui.resource import UiContent as UiContent
    from mcpframe.frame.hosting.mcp_ui.resource import read_ui_resource as read_ui_resource
    from mcpframe.frame.hosting.mcp_ui.resource import ui_resource as ui_resource
    from mcpframe.frame.hosting.outer import OuterFrame as OuterFrame
    from mcpframe.frame.hosting.outer import RunningSetup as RunningSetup
    from mcpframe.frame.hosting.policy import is_model_only as is_model_only
    from mcpframe.frame.hosting.policy import parse_link as parse_link
    from mcpframe.frame.hosting.view_server import ViewServer as ViewServer
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
    from mcpframe.frame.session.setup import Permission as Permission
    from mcpframe.frame.session.setup import SetupCompleted as SetupCompleted
    from mcpframe.frame.session.setup import SetupErrorCode as SetupErrorCode
    from mcpframe.frame.session.setup import SetupReason as SetupReason
    from mcpframe.frame.session.setup import SetupRequired as SetupRequired
    from mcpframe.frame.session.setup import SetupResult as SetupResult
    from mcpframe.frame.session.setup import SetupStarted as SetupStarted
    from mcpframe.frame.session.setup import Visibility as Visibility
    from mcpframe.frame.session.wire import WireMessage as WireMessage
    from mcpframe.frame.session.wire import bare_body as bare_body
    from mcpframe.frame.session.wire import body_text as body_text
    from mcpframe.frame.session.wire import read_wire as read_wire
    from mcpframe.frame.storage.values import Storage as Storage
    from mcpframe.frame.waiting.token_bucket import TokenBucket as TokenBucket
    from mcpframe.frame.webmcp.client import model_context_client as model_context_client
    from mcpframe.frame.worker.in_process import in_process as in_process
    from mcpframe.hub.core.options import HubOptions as HubOptions
    from mcpframe.hub.homes.page.app import AppHub as AppHub
    from mcpframe.kit.base.data import static_dir as static_dir
    from mcpframe.kit.browser.playwright_window import PlaywrightPlace as PlaywrightPlace

HOMES = {
    "HOST_PROFILES": "mcpframe.frame.hosting.mcp_apps.host_profiles",
    "POPUP": "mcpframe.frame.core.places",
    "SANDBOX": "mcpframe.frame.core.places",
    "AppHost": "mcpframe.frame.hosting.mcp_apps.host",
    "AppHub": "mcpframe.hub.homes.page.app",
    "Classes": "mcpframe.frame.page.elements",
    "Closed": "mcpframe.frame.core.events",
    "Container": "mcpframe.frame.host_api.context",
    "Dialect": "mcpframe.frame.core.dialect",
    "Element": "mcpframe.frame.page.elements",
    "File": "mcpframe.frame.page.elements",
    "FrameServer": "mcpframe.frame.serving.server",
    "FrameSession": "mcpframe.frame.serving.author",
    "Host": "mcpframe.frame.host_api.host",
    "HostContext": "mcpframe.frame.host_api.context",
    "HostProfile": "mcpframe.frame.hosting.mcp_apps.host_profiles",
    "HubOptions": "mcpframe.hub.core.options",
    "Insets": "mcpframe.frame.host_api.context",
    "NoHandshake": "mcpframe.frame.core.places",
    "Opened": "mcpframe.frame.core.events",
    "Options": "mcpframe.frame.core.roles",
    "OuterFrame": "mcpframe.frame.hosting.outer",
    "Page": "mcpframe.frame.page.session_page",
    "PageEvent": "mcpframe.frame.page.elements",
    "Permission": "mcpframe.frame.session.setup",
    "PlaywrightPlace": "mcpframe.kit.browser.playwright_window",
    "Refused": "mcpframe.frame.core.events",
    "RunningSetup": "mcpframe.frame.hosting.outer",
    "RunningView": "mcpframe.frame.hosting.mcp_apps.view",
    "Setup": "mcpframe.frame.serving.setup",
    "SetupCancelled": "mcpframe.frame.core.errors",
    "SetupCompleted": "mcpframe.frame.session.setup",
    "SetupErrorCode": "mcpframe.frame.session.setup",
    "SetupFailed": "mcpframe.frame.core.errors",
    "SetupReason": "mcpframe.frame.session.setup",
    "SetupRequired": "mcpframe.frame.session.setup",
    "SetupResult": "mcpframe.frame.session.setup",
    "SetupStarted": "mcpframe.frame.session.setup",
    "ShownUi": "mcpframe.frame.hosting.mcp_ui.actions",
    "Storage": "mcpframe.frame.storage.values",
    "ToolCancelled": "mcpframe.frame.host_api.context",
    "ToolInput": "mcpframe.frame.host_api.context",
    "ToolInputPartial": "mcpframe.frame.host_api.context",
    "ToolResult": "mcpframe.frame.host_api.context",
    "TokenBucket": "mcpframe.frame.waiting.token_bucket",
    "UiAction": "mcpframe.frame.hosting.mcp_ui.actions",
    "UiContent": "mcpframe.frame.hosting.mcp_ui.resource",
    "UiHost": "mcpframe.frame.hosting.mcp_ui.host",
    "Unresponsive": "mcpframe.frame.core.events",
    "ViewServer": "mcpframe.frame.hosting.view_server",
    "Visibility": "mcpframe.frame.session.setup",
    "VisibilityChanged": "mcpframe.frame.core.places",
    "Wire": "mcpframe.frame.core.events",
    "WireMessage": "mcpframe.frame.session.wire",
    "Withdrawn": "mcpframe.frame.core.events",
    "WrappedServer": "mcpframe.frame.serving.wrapped",
    "bare_body": "mcpframe.frame.session.wire",
    "body_text": "mcpframe.frame.session.wire",
    "check_text": "mcpframe.frame.core.payload",
    "connect_to_host": "mcpframe.frame.host_api.connect",
    "dialect": "mcpframe.frame.dialects.available",
    "errors": "mcpframe.frame.core.errors",
    "iframe_client": "mcpframe.frame.page_server.clients",
    "in_process": "mcpframe.frame.worker.in_process",
    "is_model_only": "mcpframe.frame.hosting.policy",
    "load": "mcpframe.frame.page.load",
    "model_context_client": "mcpframe.frame.webmcp.client",
    "page_server": "mcpframe.frame.page_server.server",
    "parse_address": "mcpframe.frame.core.places",
    "parse_link": "mcpframe.frame.hosting.policy",
    "partial_arguments": "mcpframe.frame.hosting.mcp_apps.partial_arguments",
    "read_ui_resource": "mcpframe.frame.hosting.mcp_ui.resource",
    "read_wire": "mcpframe.frame.session.wire",
    "serve": "mcpframe.frame.serving.server",
    "static_dir": "mcpframe.kit.base.data",
    "tab_client": "mcpframe.frame.page_server.clients",
    "ui_resource": "mcpframe.frame.hosting.mcp_ui.resource",
    "visible": "mcpframe.frame.core.visible",
    "wrap": "mcpframe.frame.serving.wrapped",
}
"""The module of each public name. A bundle contains the modules of the names that its code uses."""

__all__ = list(HOMES)


def __getattr__(name: str) -> object:
    if name not in HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        module = import_module(HOMES[name])
    except ModuleNotFoundError as error:
        if error.name != "mcp_types":
            raise
        from mcpframe.frame.core.errors import SdkError

        raise SdkError(
            f"mcpframe.{name} needs mcp 2.x; for a server of mcp 1.x, which is here, use mcpframe.wrap."
        ) from error
    globals()[name] = value = getattr(module, name, module)  # `errors` is a module itself
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *HOMES])
