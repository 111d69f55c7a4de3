"""What passes the gate of host.js is what JSON would carry, and its cost is bounded by what was posted."""

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

CARRIED: dict[str, tuple[str, Any]] = {
    "a hole": ("[1, , 3]", [1, None, 3]),
    "holes at the end": ("(() => { const list = [1]; list.length = 3; return list; })()", [1, None, None]),
    "undefined": ("({ a: undefined, b: [undefined] })", {"b": [None]}),
    "a name on an array": ("Object.assign([1], { name: 'x' })", [1]),
    "__proto__ on an array": ("Object.defineProperty([1], '__proto__', { value: {}, enumerable: true })", [1]),
    "a Map on an array": ("Object.assign([1], { map: new Map([[1, 2]]) })", [1]),
    "a cycle on an array": ("(() => { const list = [1]; list.self = list; return list; })()", [1]),
    "depth on an array": ("Object.assign([1], { deep: JSON.parse('['.repeat(500) + ']'.repeat(500)) })", [1]),
    "a name beside a hole": ("Object.assign([, 1], { name: 'x', '-1': 2, '01': 3 })", [None, 1]),
    "a Map": ("new Map([[1, 2]])", {}),
    "a Set": ("new Set([1])", {}),
    "a Date": ("new Date(0)", "1970-01-01T00:00:00.000Z"),
    "no Date": ("new Date(NaN)", None),
    "a RegExp": ("/x/", {}),
    "an Error": ("new Error('x')", {}),
    "an ArrayBuffer": ("new ArrayBuffer(8)", {}),
    "a DataView": ("new DataView(new ArrayBuffer(8))", {}),
    "a typed array": ("new Uint8Array([7, 8])", {"0": 7, "1": 8}),
    "a boxed text": ("new String('x')", "x"),
    "a boxed number": ("new Number(5)", 5),
    "a boxed flag": ("new Boolean(false)", False),
    "minus zero": ("-0", 0),
    "numbers that are none": ("[NaN, Infinity, -Infinity]", [None, None, None]),
    "toJSON that is no function": ("({ toJSON: 5 })", {"toJSON": 5}),
    "a part used twice": ("((part) => ({ a: part, b: [part] }))({ c: 1 })", {"a": {"c": 1}, "b": [{"c": 1}]}),
    "a Date as deep as allowed": ("[[[[new Date(0)]]]]", [[[["1970-01-01T00:00:00.000Z"]]]]),
}
DEEP = "((depth) => { let value = {}; while (--depth) value = { value }; return value; })"
REFUSED: dict[str, tuple[str, str]] = {
    "a cycle": ("(() => { const one = {}; one.self = { one }; return one; })()", "MalformedMessage"),
    "a BigInt": ("1n", "MalformedMessage"),
    "billions of holes": ("(() => { const list = [1]; list.length = 4e9; return list; })()", "MessageTooLarge"),
    "holes up to an item": ("(() => { const list = []; list[4e9] = 1; return list; })()", "MessageTooLarge"),
    "parts of parts": (
        "(() => { let part = {}; for (let n = 0; n < 60; n++) part = { l: part, r: part }; return part; })()",
        "MessageTooDeep",
    ),
    "many of one part": (
        "((text) => { const part = [text]; return Array(1e6).fill(part); })('x'.repeat(100))",
        "MessageTooLarge",
    ),
    "too deep": (f"{DEEP}(12)", "MessageTooDeep"),
    "too deep where it is used again": (f"((part) => ({{ part, more: [[[[part]]]] }}))({DEEP}(5))", "MessageTooDeep"),
    "__proto__": ("JSON.parse('{\"__proto__\":1}')", "PrototypeKey"),
    "a lone surrogate": ("'\\ud800'", "MalformedMessage"),
}
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


def request_with(params: str) -> str:
    return (
        f"{{ type: 'MCP_MESSAGE', payload: {{ jsonrpc: '2.0', id: 7, method: 'm', params: {{ params: {params} }} }} }}"
    )


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
