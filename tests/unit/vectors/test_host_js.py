"""The vectors on host.js in Node, which takes seconds; and on the Python roles what only JavaScript can make.

`tests/browser/test_vectors.py` plays them on host.js in Chromium.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from mcpframe.frame.core.outline import MEMBERS, Outline, outline
from mcpframe.frame.dialects.complete import complete_dialects
from mcpframe.kit.base.data import HOST_JSON, static_dir
from tests.support.host_js import host_folder, texts_of, through_host_js
from tests.vectors.cases import cases, comparable
from tests.vectors.python_driver import play


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return host_folder(tmp_path_factory.mktemp("host"))


def test_host_js(folder: Path) -> None:
    table = cases("sep")
    results = list(zip(table, through_host_js(folder, table), strict=True))
    played = [(case, result) for case, result in results if result is not None]
    assert {case["name"]: comparable(result) for case, result in played} == {
        case["name"]: comparable(case) for case, _ in played
    }
    left = [case for case, result in results if result is None and case["role"].startswith("outer")]
    assert {case["do"] for case in left} == {"repeat is due", "complete setup", "require setup"}  # an inner frame does


def test_the_bridge_s_page_around_a_page_that_speaks_plain_mcp(folder: Path) -> None:
    table = [case for case in cases("plain_mcp") if case["role"].startswith("outer")]
    results = list(zip(table, through_host_js(folder, table, "plain_mcp"), strict=True))
    played = [(case, result) for case, result in results if result is not None and case["name"] not in TIMED]
    assert {case["name"]: comparable(result) for case, result in played} == {
        case["name"]: comparable(case) for case, _ in played
    }
    assert {case["do"] for case, result in results if result is None} == {"repeat is due", "a port was handed over"}
    assert {case["name"] for case in table} > TIMED


TIMED = {
    "states_outer_transport: awaiting: deadline has passed",
    "states_outer_transport: awaiting: peer's document replaced",
}
"""Cases that differ: a page in JavaScript knows when the frame has loaded, and asks then."""


def test_the_python_roles_with_structured_clones(folder: Path) -> None:
    """Python gets of them what host-json.js, which is in every page of a bundle, hands over."""
    table = [case for case in cases("sep") if "make" in case]
    texts = texts_of(folder, [case["make"] for case in table])
    outcomes = {case["name"]: comparable(play(case, text=text)) for case, text in zip(table, texts, strict=True)}
    assert outcomes == {case["name"]: comparable(case) for case in table}
    assert len(table) > 50


LARGE = {
    "numbers": "Array.from({ length: 3e6 }, (_, n) => n)",
    "bytes": "new Uint8Array(3e7)",
    "text": "'x'.repeat(1e6)",
    "of another library": "({ type: 'other', data: new Uint8Array(3e6), id: 1n, method: 'x'.repeat(5000) })",
    "of the SEP": "({ type: 'MCP_MESSAGE', payload: { id: 1, result: { a: 'x'.repeat(1e6) } } })",
    "JSON-RPC": "({ jsonrpc: '2.0', id: 2, method: 'm', params: { a: 'x'.repeat(1e6) } })",
}


def test_of_a_large_message_only_the_head_is_read(folder: Path) -> None:
    texts = dict(zip(LARGE, texts_of(folder, list(LARGE.values()), wanted=False), strict=True))
    assert {name for name, *_ in texts.values()} == {"Large"}
    heads = {name: json.loads(head) for name, (_, _, head) in texts.items()}
    assert [heads[name] for name in ("numbers", "bytes", "text")] == [None, {}, None]
    assert heads["of another library"] == {"type": "other", "id": None, "method": None}
    assert heads["of the SEP"] == {"type": "MCP_MESSAGE", "payload": {"id": 1, "result": None}}
    assert heads["JSON-RPC"] == {"jsonrpc": "2.0", "id": 2, "method": "m"}
    small = ["({ type: 'other', a: [1] })", "'text'", "[1n]", "undefined", "'{' + ' '.repeat(1e6)"]
    assert texts_of(folder, small, wanted=False) == texts_of(folder, small)


def test_who_waits_for_an_unreadable_message_is_known_in_every_dialect(folder: Path) -> None:
    """The head of host-json.js has all members by which codecs tell messages."""
    text = (static_dir() / HOST_JSON).read_text("utf-8")
    [head] = re.findall(r"^const HEAD = (\[.*\]);$", text, re.MULTILINE)
    codecs = [
        role.codec for dialect in complete_dialects() for role in (*dialect.inner.values(), *dialect.outer.values())
    ]
    assert {name for codec in codecs for name in (*codec.members, *MEMBERS)} == set(json.loads(head))
    assert {codec.body for codec in codecs} == {None, "payload"}
    [(name, _, found)] = texts_of(folder, ["({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: { a: 1n } })"])
    assert name == "MalformedMessage"
    assert outline(found) == Outline("request", 7, "tools/call")
