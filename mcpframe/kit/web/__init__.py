"""Serving bundles and pages over HTTP."""
