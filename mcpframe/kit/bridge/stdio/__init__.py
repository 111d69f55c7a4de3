"""The standard streams as an edge: bytes, lines, and one client. For the bridge and the hub."""
