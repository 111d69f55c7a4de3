"""Adaptations of third-party code to Pyodide and to a page, one file per reason."""
