"""The commands `call` and `list`: arguments, questions and results."""
