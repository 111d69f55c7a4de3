"""The results of tools: values of Python's libraries become data and content of MCP, for servers of every SDK."""
