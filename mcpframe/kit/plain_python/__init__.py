"""`mcpframe serve --python`: an author's server over Streamable HTTP in plain CPython, in one process or several."""
