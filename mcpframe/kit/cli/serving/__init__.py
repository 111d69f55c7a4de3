"""Commands that serve bundles on this machine, and open them."""
