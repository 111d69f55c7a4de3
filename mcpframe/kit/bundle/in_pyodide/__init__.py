"""Programs that the build runs inside Pyodide; they are passed as text, and import nothing of the tool chain."""
