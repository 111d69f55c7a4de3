"""The script's one function, in parentheses."""

from __future__ import annotations

import re

from mcpframe.kit.bundle.patches.parse_once import PATCH


def test_its_own_function_is_in_parentheses(script: bytes) -> None:
    changed = PATCH.apply(script)
    assert changed.startswith(b"const _createPyodideModule=(async function _createPyodideModule(")
    assert re.search(rb"\}\);export default _createPyodideModule;\s*\Z", changed)
    assert len(changed) == len(script) + len(b"const _createPyodideModule=();")
