"""A shopping list for assistants."""
