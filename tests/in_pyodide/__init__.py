"""What only real Pyodide can prove."""
