"""The table of MCP Apps' messages: complete, and each of them has its tests."""

from __future__ import annotations

import ast
from collections import Counter

import pytest

from mcpframe.kit.base.data import checkout_dir
from tests.support.apps_rows import HOST_TESTS, ROWS, VIEW_TESTS


def test_the_table_is_complete() -> None:
    counted = Counter((row.sender, row.request) for row in ROWS)
    assert counted == {
        ("view", True): 14,
        ("view", False): 7,
        ("host", True): 4,
        ("host", False): 10,
        ("proxy", False): 2,
    }
    assert len({(row.sender, row.method) for row in ROWS}) == len(ROWS)
    assert sum(row.seed for row in ROWS) == 16


@pytest.mark.parametrize("role", ["view", "host"])
def test_every_row_names_its_test_and_every_test_is_named(role: str) -> None:
    file = {"view": VIEW_TESTS, "host": HOST_TESTS}[role]
    tree = ast.parse((checkout_dir() / file).read_text("utf-8"))
    found = {
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
    }
    named = [getattr(row, role).split("::") for row in ROWS]
    assert found == {name for of, name in named if of == file}
    for of, name in named:
        assert f"def {name}(" in (checkout_dir() / of).read_text("utf-8")
