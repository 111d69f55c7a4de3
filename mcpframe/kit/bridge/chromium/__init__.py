"""The bridge's pages: tabs of a Chromium with framed servers, their consoles, and the setup window."""
