"""Streamable HTTP on this machine, in both protocol eras, one module each; `request_checks` checks requests."""
