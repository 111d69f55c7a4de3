"""The bridge over Streamable HTTP, in both protocol eras, one module each; `headers` checks requests."""
