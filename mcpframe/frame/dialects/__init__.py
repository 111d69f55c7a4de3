"""The dialects: each a folder that imports the core and itself only. `available.py` and `complete.py` find them."""
