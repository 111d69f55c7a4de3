"""`mcpframe install`: the clients it knows, and changes of their configuration files."""
