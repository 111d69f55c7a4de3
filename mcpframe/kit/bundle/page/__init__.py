"""The page of a bundle: its HTML, scripts, Content Security Policy, and its form as a view."""
