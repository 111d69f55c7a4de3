"""Snapshots of Python's memory, from which pages start."""
