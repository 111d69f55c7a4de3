"""Build an author's server into static files: one module per step; `pipeline` runs them in order."""
