"""A Chromium to drive, and windows into it."""
