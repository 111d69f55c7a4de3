"""Hosts in Python: a framed page, where it is put, how large it is, and what it may do."""
