"""The browser's half of each adapter: the only modules that import `js` and `pyodide`."""
