"""What runs inside the frame, and in plain CPython: the only code a bundle carries."""
