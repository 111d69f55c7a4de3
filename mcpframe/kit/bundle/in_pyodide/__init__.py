"""Programs that the build runs inside Pyodide, as text. They import nothing of the tool chain."""
