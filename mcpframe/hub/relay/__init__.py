"""The proxy of one page: a client of what the page offers, at one end of a port to the hub."""
