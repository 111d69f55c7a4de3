"""A small dialect, as a folder alone adds it: what docs/architecture.md says to write, and no more."""
