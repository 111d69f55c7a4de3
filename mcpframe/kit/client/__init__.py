"""A client of a deployed server: its page in headless Chromium, framed by a page of another origin."""
