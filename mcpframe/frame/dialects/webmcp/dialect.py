"""This dialect, for the composition: see `core.dialect`."""

from __future__ import annotations

from mcpframe.frame.core.dialect import Dialect

DIALECT = Dialect(
    name="webmcp",
    title="WebMCP",
    preference=6,
    initializes=False,
    document_property="modelContext",
    document_module="mcpframe.frame.webmcp.offering",
    form_module="mcpframe.frame.webmcp.tool_form",
)
