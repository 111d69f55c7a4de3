"""Proofs that need real Pyodide."""
