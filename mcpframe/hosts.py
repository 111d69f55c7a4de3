"""Hosts in Python: framed pages, views and pages of tools, clients of page servers, the profiles of known hosts, and
the widget for notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpframe import on_demand

if TYPE_CHECKING:
    from mcpframe.frame.core.places import POPUP as POPUP
    from mcpframe.frame.core.places import SANDBOX as SANDBOX
    from mcpframe.frame.core.places import parse_address as parse_address
    from mcpframe.frame.core.references import resolve_reference as resolve_reference
    from mcpframe.frame.core.roles import Options as Options
    from mcpframe.frame.core.visible import visible as visible
    from mcpframe.frame.dialects.complete import outer_dialects as outer_dialects
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
    from mcpframe.frame.hosting.outer import OuterFrame as OuterFrame
    from mcpframe.frame.hosting.outer import RunningSetup as RunningSetup
    from mcpframe.frame.hosting.policy import is_model_only as is_model_only
    from mcpframe.frame.hosting.policy import parse_link as parse_link
    from mcpframe.frame.hosting.view_server import ViewServer as ViewServer
    from mcpframe.frame.page_server.clients import iframe_client as iframe_client
    from mcpframe.frame.page_server.clients import tab_client as tab_client
    from mcpframe.frame.serving.server import serve as serve
    from mcpframe.frame.webmcp.client import model_context_client as model_context_client
    from mcpframe.kit.base.data import static_dir as static_dir
    from mcpframe.kit.browser.playwright_window import PlaywrightPlace as PlaywrightPlace
    from mcpframe.kit.notebook.widget import playground as playground
else:
    __getattr__, __dir__ = on_demand(__name__)
