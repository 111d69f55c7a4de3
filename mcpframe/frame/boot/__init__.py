"""The start of a page: from the boot config to a served session. Everything else in the frame is below it."""
