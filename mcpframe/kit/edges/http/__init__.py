"""Streamable HTTP on this machine, in both protocol eras, one module each; `headers` checks requests."""
