"""The programs that authors work with: the development server, the inspector, the demo."""
