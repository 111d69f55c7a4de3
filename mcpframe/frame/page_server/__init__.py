"""Page servers (MCP-B) for scripts of a window, and clients for them."""
