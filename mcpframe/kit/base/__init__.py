"""The base of the tool chain: files, programs, errors, Node.js."""
