"""Pyodide during a build: the runtime, programs that run in it, bytecode, archives, and its own packages."""
