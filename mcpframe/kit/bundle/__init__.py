"""Build an author's server into static files: one module per step; `pipeline` runs them in order."""

from mcpframe.kit.bundle.pipeline import build
from mcpframe.kit.bundle.write import BuildResult

__all__ = ["BuildResult", "build"]
