"""The values of sessions outside of browsers: in a folder, or in an SQL database."""
