"""Options, output, examples and targets that several commands share."""
