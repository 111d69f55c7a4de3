"""WebMCP: a server's tools at the document's `modelContext` and in forms, and a client for tools registered there."""
