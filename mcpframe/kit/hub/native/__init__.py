"""The extension's hub for programs on this machine: native messaging, and its clients."""
