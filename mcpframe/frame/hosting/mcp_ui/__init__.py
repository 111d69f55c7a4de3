"""A host of mcp-ui: the UI resources that tools return."""
