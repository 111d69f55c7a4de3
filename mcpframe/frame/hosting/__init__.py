"""Hosts in Python: framed pages, their places, sizes and permissions."""
