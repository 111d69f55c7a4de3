"""What all of the tool chain stands on: files, programs, errors, Node.js."""
