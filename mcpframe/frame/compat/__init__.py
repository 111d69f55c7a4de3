"""Every fit of somebody else's code to Pyodide and to a page, one file per reason."""
