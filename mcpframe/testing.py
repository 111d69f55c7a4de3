"""The types of the fixtures of the pytest plugin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpframe import on_demand

if TYPE_CHECKING:
    from mcpframe.kit.testing.app_bridge import AppBridgeHost as AppBridgeHost
    from mcpframe.kit.testing.app_view import AppView as AppView
    from mcpframe.kit.testing.framed import FramedServer as FramedServer
else:
    __getattr__, __dir__ = on_demand(__name__)
