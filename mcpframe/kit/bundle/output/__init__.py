"""The files of a bundle: hashed names, archives, header files of hosts, and the output root."""
