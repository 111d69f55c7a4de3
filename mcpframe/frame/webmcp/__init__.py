"""WebMCP: the server's tools at the document's `modelContext`, and a client for the tools registered there."""
