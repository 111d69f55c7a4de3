"""Chromium's DevTools protocol: its client, and a Chromium that is started or attached to."""
