"""Pyodide's scripts as classic ones, which neither import nor export."""

from __future__ import annotations

import re

import pytest

from mcpframe.kit.base.errors import KitError
from mcpframe.kit.bundle.patches import SCRIPT, patch_script
from mcpframe.kit.bundle.pyodide.plain_script import plain_script
from mcpframe.kit.bundle.pyodide.runtime import ensure_runtime


@pytest.mark.parametrize(
    ("name", "value"), [("pyodide.mjs", r"mcpframePyodide=\w+"), (SCRIPT, "mcpframePyodideModule=_createPyodideModule")]
)
def test_the_pinned_scripts_set_globals(name: str, value: str) -> None:
    script = (ensure_runtime().folder / name).read_bytes()
    if name == SCRIPT:
        script = patch_script(script).script
    text = plain_script(name, script).decode()
    assert text.startswith('(function () {"use strict";\n')
    assert re.search(rf"globalThis\.{value};\s*(//.*\s*)?\n\}}\)\(\);\n$", text)
    assert not re.search(r"import\.meta|\bexport\b\s*[{*d]|^import\b(?!\()", text, re.MULTILINE)


def test_another_export_is_an_error() -> None:
    with pytest.raises(KitError, match="use the pinned version"):
        plain_script("pyodide.mjs", b"export { start as go };")
