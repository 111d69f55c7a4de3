"""The pytest plugin and what its fixtures are made of."""
