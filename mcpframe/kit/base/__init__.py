"""What every part of the tool chain uses: files, programs, errors, Node.js."""
