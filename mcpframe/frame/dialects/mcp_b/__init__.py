"""MCP-B: page servers and their clients, in one window or across an iframe, in an envelope with a direction."""
