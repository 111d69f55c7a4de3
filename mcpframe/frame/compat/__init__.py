"""Adaptations of third-party code to Pyodide and to a page, one file per reason."""

import sys


def in_pyodide() -> bool:
    """Return whether this Python is Pyodide. (`pyodide.ffi` has renamed its own marker between versions.)"""
    return sys.platform == "emscripten"
