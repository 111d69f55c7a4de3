"""Test modules that run inside Pyodide, by `runner.run`."""
