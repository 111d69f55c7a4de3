"""The caller that a request names, and its replacement at an edge."""

from __future__ import annotations

from typing import Any

import pytest

from mcpframe.frame.core.callers import CALLER_KEY, Named, named_caller, with_caller


@pytest.mark.parametrize("caller", [Named(), Named("ada"), Named("", "b1"), Named("ada", "b1")])
@pytest.mark.parametrize("meta", [None, {}, {"a": 1}, {CALLER_KEY: {"user": "eve", "by": "e1"}}, {CALLER_KEY: 5}])
def test_an_edge_replaces_what_a_request_says(caller: Named, meta: dict[str, Any] | None) -> None:
    params = {"name": "x"} if meta is None else {"name": "x", "_meta": meta}
    told = with_caller(params, caller)
    assert named_caller(told) == caller
    assert told["name"] == "x"
    assert (told.get("_meta") or {}).get("a") == (meta or {}).get("a")
    assert params.get("_meta") == meta  # as it was


@pytest.mark.parametrize(
    "params",
    [None, {}, {"_meta": None}, {"_meta": 5}]
    + [{"_meta": {CALLER_KEY: said}} for said in (None, 5, [], {"user": 5}, {"user": "x" * 129}, {"user": ["x"]})],
)
def test_what_says_nothing_of_a_caller(params: Any) -> None:
    assert named_caller(params) == Named()
