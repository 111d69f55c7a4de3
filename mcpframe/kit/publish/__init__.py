"""Publishing: the checks of `mcpframe check`, and the npm package for hosts."""
