"""A server in a Web Worker: its page's half, which supervises it, and the half that serves in the worker."""

BUNDLED_WITH = ("worker",)
