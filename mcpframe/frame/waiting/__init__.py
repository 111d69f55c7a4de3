"""Waiting on an event loop: for answers, for changes, and for deadlines. Without I/O, for the frame and the hub."""
