"""`session.host`: what a page can ask of the host around it. One module for each dialect that has such an API."""
