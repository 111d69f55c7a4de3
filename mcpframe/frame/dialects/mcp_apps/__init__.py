"""MCP Apps (SEP-1865): a view in a frame and the host around it, in plain JSON-RPC."""
