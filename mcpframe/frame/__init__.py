"""The code that runs inside the frame, and in plain CPython: the only code in a bundle."""
