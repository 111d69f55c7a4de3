"""A server in a notebook: its tools as forms in an output, served in the notebook's kernel."""
