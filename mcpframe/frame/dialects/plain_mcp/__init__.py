"""Plain MCP: its JSON-RPC messages posted as they are, without a handshake of the window's own."""
