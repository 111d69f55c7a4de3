"""This dialect, for the composition: see `core.dialect`."""

from __future__ import annotations

import re
from typing import Any

from mcpframe.frame.core.dialect import TRANSPORT, Dialect
from mcpframe.frame.dialects.mcp_ui.messages import NAME, READY, RENDER_DATA
from mcpframe.frame.dialects.mcp_ui.offers import EmbeddedOffer
from mcpframe.frame.dialects.mcp_ui.roles import EMBEDDED

WAITING = r"[?&]waitForRenderData=true(&|$)"
"""In the query of a page's address: the page begins only with the host's render data."""


def _page_offer(*, query: str = "", **_: Any) -> EmbeddedOffer:
    return EmbeddedOffer(waits=re.search(WAITING, query) is not None)


DIALECT = Dialect(
    name=NAME,
    title="mcp-ui",
    preference=3,
    inner={TRANSPORT: EMBEDDED},
    has_further_roles=True,
    page_offer=_page_offer,
    query=WAITING,
    initializes=False,
    own_forms=True,
    host_api="mcpframe.frame.host_api.mcp_ui:EmbeddingHost",
    steps={READY: "Page ready", RENDER_DATA: "Render data"},
    for_hosts="Hosts of mcp-ui show it as a UI resource: this address, as text/uri-list",
)
