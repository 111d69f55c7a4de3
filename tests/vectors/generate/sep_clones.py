"""Structured clones: what is posted can be more than JSON has, and is read as JSON would carry it, or refused.

Each is JavaScript, evaluated in the page that posts it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.vectors.generate.writing import Table

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
    "toJSON that is not a function": ("({ toJSON: 5 })", {"toJSON": 5}),
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

_REQUEST = "{ jsonrpc: '2.0', id: 7, method: 'm', params: { params: %s } }"
_TOO_DEEP = {
    "too deep": f"{DEEP}(120)",
    "too deep where it is used again": f"((part) => ({{ part, more: {'[' * 60}part{']' * 60} }}))({DEEP}(60))",
}
"""With the usual limit of 100 levels."""
_NOISE = {
    "an array with the members of a message": f"Object.assign([], {{ type: 'MCP_MESSAGE', payload: {_REQUEST % 1} }})",
    "a Map": "new Map([['type', 'MCP_MESSAGE']])",
    "undefined": "undefined",
    "a BigInt": "1n",
    "a Date": "new Date(0)",
    "a cycle": "(() => { const one = {}; one.self = one; return one; })()",
    "a type that is a boxed number": "({ type: new Number(7) })",
}


def request_with(params: str) -> str:
    """Return a message whose request has these params, as JavaScript."""
    return f"{{ type: 'MCP_MESSAGE', payload: {_REQUEST % params} }}"


def tables() -> Iterator[tuple[str, Table]]:
    """Return the one file of this part."""
    about = "What is posted and is not JSON: read as JSON would carry it, or refused. Generated: do not edit."
    cases = [case for role in ("inner transport", "outer transport") for case in _cases(role)]
    yield "clones", {"about": about, "generated": True, "state": "open", "cases": cases}


def _cases(role: str) -> Iterator[dict[str, Any]]:
    def case(name: str, make: str, *outcome: dict[str, Any], **more: Any) -> dict[str, Any]:
        return {"name": f"{role}: {name}", "role": role, **more, "make": make, "outcome": [*outcome], "next": "open"}

    answered = {"answers": 7, "code": -32600, "to": "peer"}
    for name, (make, value) in CARRIED.items():
        payload = {"jsonrpc": "2.0", "id": 7, "method": "m", "params": {"params": value}}
        yield case(f"carried, {name}", request_with(make), {"received": payload})
    for name, (make, error) in REFUSED.items():
        if name == "parts of parts":
            error = "MessageTooLarge"  # it is not as deep as the usual limit
        yield case(f"refused, {name}", request_with(_TOO_DEEP.get(name, make)), {"refused": error}, answered)
    for name, make in _NOISE.items():
        yield case(f"noise, {name}", make)
    boxed = (
        "{ type: new String('MCP_MESSAGE'), payload: { jsonrpc: '2.0', id: new String('a'), method: new String('m') } }"
    )
    yield case("boxed texts are texts", boxed, {"received": {"jsonrpc": "2.0", "id": "a", "method": "m"}})
    answer = "{ jsonrpc: '2.0', id: 5, result: (result.self = result) }"
    cyclic = f"((result) => ({{ type: 'MCP_MESSAGE', payload: {answer} }}))({{}})"
    yield case(
        "an answer that holds itself", cyclic, {"refused": "MalformedMessage"}, {"fails": 5, "code": -32603}, asked=[5]
    )
    note = "{ type: 'MCP_MESSAGE', payload: { jsonrpc: '2.0', method: 'm', params: { n: 1n } } }"
    yield case("a notification with a BigInt", note, {"refused": "MalformedMessage"})
    yield case("an unknown type with a BigInt", "{ type: 'MCP_NONSENSE', n: 1n }", {"refused": "MalformedMessage"})
    yield case(
        "a payload that is a Map", "{ type: 'MCP_MESSAGE', payload: new Map() }", {"refused": "MalformedMessage"}
    )
    yield case(
        "a payload that is undefined", "{ type: 'MCP_MESSAGE', payload: undefined }", {"refused": "MalformedMessage"}
    )
