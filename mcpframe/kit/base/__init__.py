"""The base of the tool chain: files, processes, errors, Node.js."""
