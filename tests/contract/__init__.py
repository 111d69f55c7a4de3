"""The contract of the outer frame on fake windows: the very tests of `tests/browser`, without a browser."""
