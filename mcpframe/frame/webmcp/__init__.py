"""WebMCP: the server's tools at the document's `modelContext`, and a client for what is registered there."""
