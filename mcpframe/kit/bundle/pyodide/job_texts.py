"""The sources of the jobs in `in_pyodide`."""

from __future__ import annotations

from importlib.resources import files


def job_text(name: str) -> str:
    """Return the source of a job in `in_pyodide`, by its name without `.py`."""
    return (files("mcpframe.kit.bundle.in_pyodide") / f"{name}.py").read_text("utf-8")


def job_texts() -> dict[str, str]:
    """Return the source of every job in `in_pyodide`, by path in site-packages."""
    folder = files("mcpframe.kit.bundle.in_pyodide")
    names = sorted(file.name for file in folder.iterdir() if file.name.endswith(".py"))
    return {f"mcpframe/kit/bundle/in_pyodide/{name}": job_text(name.removesuffix(".py")) for name in names}
