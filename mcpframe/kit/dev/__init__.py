"""The programs for authors: the development server, the inspector, the demo."""
