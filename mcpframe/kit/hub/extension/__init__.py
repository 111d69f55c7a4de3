"""The extension: its build, and its identity."""
