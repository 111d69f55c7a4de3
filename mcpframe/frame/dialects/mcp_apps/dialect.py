"""This dialect, for the composition: see `core.dialect`."""

from __future__ import annotations

from mcpframe.frame.core.dialect import TRANSPORT, Dialect
from mcpframe.frame.dialects.mcp_apps.messages import (
    ANSWER,
    CONFIRMATION,
    INITIALIZE,
    INITIALIZED,
    NAME,
    PROXY_READY,
    VERSIONS,
)
from mcpframe.frame.dialects.mcp_apps.offers import ViewOffer
from mcpframe.frame.dialects.mcp_apps.roles import VIEW

DIALECT = Dialect(
    name=NAME,
    title="MCP Apps",
    preference=2,
    inner={TRANSPORT: VIEW},
    has_further_roles=True,
    page_offer=lambda query="", **about: ViewOffer(**about),
    view_opening=INITIALIZE,
    view_confirmation=CONFIRMATION,
    view_versions=VERSIONS,
    initializes=False,
    host_api="mcpframe.frame.host_api.mcp_apps:HostOfView",
    steps={
        PROXY_READY: "Sandbox ready",
        INITIALIZE: "View calls",
        ANSWER: "Host answers",
        INITIALIZED: "View ready",
    },
    for_hosts="Hosts of MCP Apps show it as the view of a tool",
)
