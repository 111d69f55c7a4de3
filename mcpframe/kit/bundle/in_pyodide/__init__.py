"""Jobs that the build runs inside Pyodide. They are passed as text, and import nothing from the tool chain."""
