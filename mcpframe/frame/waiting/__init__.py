"""Waiting, on an event loop: for answers, and until a time. Without I/O, for the frame and the hub."""
