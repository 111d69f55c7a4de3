"""The rules every dialect shares, without I/O: the gate, pinning, limits, deadlines and pending requests."""
