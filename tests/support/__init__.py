"""Parts that several test suites share."""
