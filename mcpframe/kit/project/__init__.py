"""An author's project: found, configured, scaffolded."""
