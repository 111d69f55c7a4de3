"""The commands of `mcpframe`, one module each. A command imports what it needs when it runs: help has to be quick."""
