"""Servers that are console scripts: their function runs in the page as on a command line."""
