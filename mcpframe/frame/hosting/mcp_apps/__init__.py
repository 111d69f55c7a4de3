"""A host of MCP Apps: the views of a server's tools."""
