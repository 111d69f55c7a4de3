"""Edges of the bridge and the hub: the ways in which MCP clients on this machine reach them."""
