"""The commands of `mcpframe`, one module each. A command imports its dependencies when it runs, for quick help."""
