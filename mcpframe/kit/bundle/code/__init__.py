"""What code says before it runs, read from its syntax: imports, entries, limits, the SDK it was written for."""
