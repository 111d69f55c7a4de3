"""Facts about code that is not run, read from its syntax: imports, entries, limits, the SDK it was written for."""
