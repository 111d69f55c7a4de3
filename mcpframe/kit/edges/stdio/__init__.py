"""MCP over stdio: bytes, lines, and one client. For the bridge and the hub."""
