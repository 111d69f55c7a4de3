"""The SEP "postMessage Transport"."""
