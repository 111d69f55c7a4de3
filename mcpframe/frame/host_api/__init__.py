"""`session.host`: a page's requests to the host around it. One module for each dialect that has such an API."""
