"""Driving Chromium: finding and launching it, and windows into its pages."""
