"""The bridge's browser: its process, DevTools, its profile, and tabs with framed servers."""
