"""WebMCP's tools. WebMCP has no handshake: the document's `modelContext` is an object, not a window."""
