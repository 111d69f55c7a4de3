"""The rules of the hub: which tools there are, what they are called, and which tab executes a call. No I/O."""
