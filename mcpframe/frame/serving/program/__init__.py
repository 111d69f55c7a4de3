"""Servers that are console scripts: their function runs in the page as it does on a command line."""
