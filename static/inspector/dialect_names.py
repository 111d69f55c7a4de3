"""The dialects by the names that people know them by."""

from __future__ import annotations

from typing import Final

DIALECTS: Final = {"sep": "SEP postMessage", "mcp_apps": "MCP Apps", "mcp_ui": "mcp-ui", "mcp_b": "MCP-B"}
"""The dialects, and their visible names."""
