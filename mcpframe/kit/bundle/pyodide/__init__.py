"""Pyodide during a build: the runtime, jobs that run in it, bytecode, archives, and its own packages."""
