"""Servers by name: published pages, built bundles, projects and packages; and the sites of bundles."""
