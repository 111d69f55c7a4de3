"""One MCP connection to a framed server, and the messages on it."""
