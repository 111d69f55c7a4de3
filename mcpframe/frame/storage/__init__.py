"""What a page keeps in the browser: values of a session, and files."""
