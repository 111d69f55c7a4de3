"""mcp-ui's embeddable UI: a page in a frame that posts actions, and the host that answers them."""
