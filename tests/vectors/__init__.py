"""Vectors: what each role of a dialect does with each message, as data. `README.md` has their format."""
