"""The hub as an MCP server: for clients in this process, over ports, and over native messaging."""
