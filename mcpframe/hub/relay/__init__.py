"""The proxy of one page: a client of the page's tools, at one end of a port to the hub."""
