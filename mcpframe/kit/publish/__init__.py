"""Publishing: the checks of `mcpframe check`."""
