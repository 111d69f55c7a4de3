"""Where `mcpframe publish` prepares a site for: a module for each static host, with the files that it writes."""
