"""The rules of the hub: its tools, their names, and the tab that executes a call. No I/O."""
