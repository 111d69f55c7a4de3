"""Web Workers with Python: a server in one, which its page supervises, and functions that run in others."""

BUNDLED_WITH = ("worker", "processes")
