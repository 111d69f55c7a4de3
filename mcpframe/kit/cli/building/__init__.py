"""Commands for the author of a server: from a new project to a published bundle."""
