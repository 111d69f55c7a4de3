"""Waiting, on an event loop: for answers, for changes, and until a time. Without I/O, for the frame and the hub."""
