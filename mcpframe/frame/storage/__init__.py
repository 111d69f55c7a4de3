"""Storage of a page in the browser: values of a session, and files."""
