"""Scripts that are evaluated in a page."""

from __future__ import annotations

from mcpframe.kit.base.data import static_dir


def script_with_reading(name: str) -> str:
    """Return an expression for the function in a file of `static`, with those of `host-json.js` in its scope.

    Args:
        name: The path of the file.
    """
    reading, function = ((static_dir() / each).read_text("utf-8") for each in ("host/host-json.js", name))
    reading, function = reading.replace("export function", "function"), function.rstrip().rstrip(";")
    return f"(() => {{\n{reading}\nreturn (\n{function}\n);\n}})()"
