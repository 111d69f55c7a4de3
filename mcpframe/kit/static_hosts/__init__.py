"""Static hosts: a module for each, with its configuration file, what it can send, and its limits. Without I/O."""
