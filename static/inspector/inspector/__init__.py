"""The inspector: a host for framed servers that shows all of their features. Imports public names of mcpframe only."""
