"""What an author works with: the development server, the inspector, the demo."""
