"""`mcpframe hub`: the tools of the pages in a Chromium, for any MCP client."""
