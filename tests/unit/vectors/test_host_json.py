"""The gate of host.js passes what JSON would carry, at a cost bounded by the posted message."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.host_js import host_folder, through_host_js
from tests.unit.frame.core.test_outline import refused
from tests.vectors.cases import Case, Result
from tests.vectors.generate.sep_clones import CARRIED, REFUSED, request_with

PROPORTIONATE = {
    "a million numbers": "Array.from({ length: 1e6 }, (_, n) => n)",
    "a hundred thousand objects": "Array.from({ length: 1e5 }, (_, n) => ({ n, name: 'x' }))",
    "a schema in a thousand places": "((schema) => Array.from({ length: 1000 }, (_, n) => ({ n, schema })))"
    "(Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`member${n}`, { type: 'string' }])))",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return host_folder(tmp_path_factory.mktemp("host"))


def played(folder: Path, table: list[Case]) -> list[Result]:
    results = through_host_js(folder, table)
    return [result for result in results if result is not None]


def case(make: str, **options: int) -> dict[str, Any]:
    return {"role": "outer transport", "state": "open", "options": options, "make": make}


def test_what_json_would_carry_is_what_the_sdk_gets(folder: Path) -> None:
    table = [case(request_with(make), max_nesting=9) for make, _ in CARRIED.values()]
    told = [result["outcome"] for result in played(folder, table)]
    wanted = [
        [{"received": {"jsonrpc": "2.0", "id": 7, "method": "m", "params": {"params": value}}}]
        for _, value in CARRIED.values()
    ]
    assert dict(zip(CARRIED, told, strict=True)) == dict(zip(CARRIED, wanted, strict=True))


def test_what_it_would_not_is_refused_and_who_waits_hears(folder: Path) -> None:
    table = [case(request_with(make), max_nesting=9) for make, _ in REFUSED.values()]
    told = [result["outcome"] for result in played(folder, table)]
    wanted = [[{"refused": error}, {"answers": 7, "code": -32600, "to": "peer"}] for _, error in REFUSED.values()]
    assert dict(zip(REFUSED, told, strict=True)) == dict(zip(REFUSED, wanted, strict=True))


def test_boxed_texts_are_texts(folder: Path) -> None:
    boxed = (
        "{ type: new String('MCP_MESSAGE'), payload: { jsonrpc: '2.0', id: new String('a'), method: new String('m') } }"
    )
    [told] = played(folder, [case(boxed)])
    assert told["outcome"] == [{"received": {"jsonrpc": "2.0", "id": "a", "method": "m"}}]


def test_what_is_no_object_in_json_is_noise(folder: Path) -> None:
    on_array = f"Object.assign([], {request_with('1')})"
    inherited = "new Map([['type', 'MCP_MESSAGE']])"
    told = played(folder, [case(on_array), case(inherited), case("undefined")])
    assert [each["outcome"] for each in told] == [[], [], []]


def test_the_cost_is_bounded_by_what_was_posted(folder: Path) -> None:
    """A small message that is endless as JSON costs no more than a usual one of a megabyte, under the usual limits."""
    usual = request_with("'x'.repeat(1e6)")
    names = ["billions of holes", "holes up to an item", "parts of parts"]
    bombs = [request_with(REFUSED[name][0]) for name in names]
    legitimate = [request_with(make) for make in PROPORTIONATE.values()]
    results = played(folder, [case(usual)] * 3 + [case(make) for make in [*bombs, *legitimate]])
    slowest = max(result["milliseconds"] for result in results[:3])
    for name, result in zip(names, results[3:6], strict=True):
        assert result["outcome"][0] == {"refused": "MessageTooLarge"}, name
        assert result["milliseconds"] < 20 * slowest + 50, name
    for name, result in zip(PROPORTIONATE, results[6:], strict=True):
        assert "received" in result["outcome"][0], name


@given(messages=st.lists(refused(), min_size=100, max_size=100))
@settings(max_examples=2, deadline=None, suppress_health_check=list(HealthCheck))
def test_whoever_waits_for_a_refused_message_hears(folder: Path, messages: list[tuple[str, Any, bool]]) -> None:
    """The cases of `test_outline.py`: any order of members, any id, any reason."""
    limits = {"max_message_bytes": 15_000, "max_nesting": 6}
    sendable = [each for each in messages if each[2] or not _ill_formed(each[1])]
    table = [
        {
            "role": "outer transport",
            "state": "open",
            "options": limits,
            "text": text,
            "asked": [] if is_request else [id_],
        }
        for text, id_, is_request in sendable
    ]
    for (text, id_, is_request), result in zip(sendable, played(folder, table), strict=True):
        outcome = result["outcome"]
        told = [{"answers": id_, "code": -32600, "to": "peer"}] if is_request else [{"fails": id_, "code": -32603}]
        assert "refused" in json.dumps(outcome), text
        assert [each for each in outcome if "refused" not in each] == told, text


def _ill_formed(id_: Any) -> bool:
    return isinstance(id_, str) and any("\ud800" <= each <= "\udfff" for each in id_)
