"""WebMCP: its tools. It has no handshake: the document's `modelContext` is an object, and no window."""
