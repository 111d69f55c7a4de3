"""An author's project: finding, configuration, scaffolding."""
