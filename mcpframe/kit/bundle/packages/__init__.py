"""The packages of a bundle: requirements, the lock, wheels, and the layers that they are compiled into."""
