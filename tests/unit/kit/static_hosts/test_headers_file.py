"""The rules of a `_headers` file."""

from __future__ import annotations

import pytest

from mcpframe.kit.base.errors import ServeError
from mcpframe.kit.static_hosts.headers_file import headers_for, parse

RULES = parse(
    """
# all
/*
  A: 1
  B: x: y

/app/*
\tA: 2
/only
  C: c
/users/:name/page
  D: d
/free/*
  ! A
"""
)


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/", {"a": "1", "b": "x: y"}),
        ("/app/deep/file.js", {"a": "1, 2", "b": "x: y"}),
        ("/app", {"a": "1", "b": "x: y"}),
        ("/only", {"a": "1", "b": "x: y", "c": "c"}),
        ("/only/more", {"a": "1", "b": "x: y"}),
        ("/users/me/page", {"a": "1", "b": "x: y", "d": "d"}),
        ("/users/me/too/page", {"a": "1", "b": "x: y"}),
        ("/free/x", {"b": "x: y"}),
    ],
)
def test_which_rules_match(path: str, headers: dict[str, str]) -> None:
    assert headers_for(path, RULES) == headers


def test_an_empty_file_has_no_rules() -> None:
    assert parse("\n# nothing\n") == []


@pytest.mark.parametrize(("text", "line"), [("  A: 1", 1), ("/*\n  A 1", 2), ("/*\n  : 1", 2), ("\n  ! A", 2)])
def test_a_line_that_is_neither_has_its_number_in_the_error(text: str, line: int) -> None:
    with pytest.raises(ServeError, match=f"line {line}:"):
        parse(text)
