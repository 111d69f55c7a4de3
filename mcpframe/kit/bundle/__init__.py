"""Build an author's server into static files: one module per step; `pipeline` runs them in order."""

from mcpframe.kit.bundle.output.write import BuildResult
from mcpframe.kit.bundle.pipeline import build

__all__ = ["BuildResult", "build"]
