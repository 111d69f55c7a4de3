"""The hub in the extension, for the programs of this machine: native messaging, and the clients that meet it."""
