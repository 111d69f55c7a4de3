"""Serving files and pages over HTTP."""
