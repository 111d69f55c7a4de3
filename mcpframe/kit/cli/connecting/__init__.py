"""Commands that connect MCP clients to servers in a browser: a bridge, a hub, their installation."""
