"""Rules for HTTP requests of 2026-07-28, as a table: status and JSON-RPC code of each refusal."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mcpframe.kit.edges.http.request_checks import (
    Accepted,
    Refusal,
    check_body,
    check_head,
    check_parameters,
    needs_schema,
    status_of,
)

VERSION = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientCapabilities": {},
}


def body(method: str = "tools/list", meta: Any = META, id_: Any = 1, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id_, "method": method, "params": {**params, "_meta": meta}}


def head(method: str | None = "tools/list", name: str | None = None, version: str | None = VERSION) -> dict[str, str]:
    found = {"mcp-protocol-version": version, "mcp-method": method, "mcp-name": name}
    return {key: value for key, value in found.items() if value is not None}


def test_a_good_request_passes_as_it_is() -> None:
    text = json.dumps(body(), indent=3)
    assert check_body(text.encode(), list(head().items())) == Accepted(text, body())


CALL = body("tools/call", name="add", arguments={})


@pytest.mark.parametrize(
    ("message", "headers", "code"),
    [
        (body(meta=None), head(), -32602),
        (body(meta={}), head(), -32602),
        ({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, head(), -32602),
        (body(meta={"io.modelcontextprotocol/protocolVersion": VERSION}), head(), -32602),
        (body(), head(method=None), -32020),
        (body(), head(method="tools/call"), -32020),
        (body(), head(version=None), -32020),
        (body(), head(version="2099-01-01"), -32020),
        (CALL, head("tools/call"), -32020),
        (CALL, head("tools/call", "sub"), -32020),
        (CALL, head("tools/call", "=?base64?YWRk"), -32020),
        (
            body(meta={**META, "io.modelcontextprotocol/protocolVersion": "2099-01-01"}),
            head(version="2099-01-01"),
            -32022,
        ),
        ([CALL], head(), -32600),
        ({"jsonrpc": "2.0", "id": 1, "result": {}}, head(), -32600),
        ({"jsonrpc": "2.0", "id": {}, "method": "ping"}, head(), -32600),
        ({"jsonrpc": "2.0", "id": None, "method": "ping"}, head(), -32600),
        ({"jsonrpc": "2.0", "method": "notifications/x"}, head(version="2099-01-01"), -32022),
    ],
)
def test_what_is_refused(message: object, headers: dict[str, str], code: int) -> None:
    refusal = check_body(json.dumps(message).encode(), list(headers.items()))
    assert isinstance(refusal, Refusal)
    found = refusal.body()
    assert found is not None
    assert (refusal.status, found["error"]["code"]) == (400, code)


@pytest.mark.parametrize("method", ["tasks/get", "tasks/update", "tasks/cancel"])
def test_the_name_of_a_task_is_its_id(method: str) -> None:
    for name, accepted in ((None, True), ("t1", True), ("=?base64?dDE=?=", True), ("t2", False), ("", False)):
        checked = check_body(json.dumps(body(method, taskId="t1")).encode(), list(head(method, name).items()))
        assert isinstance(checked, Accepted) is accepted, name
        if isinstance(checked, Refusal):
            assert (checked.status, checked.code) == (400, -32020)


def test_a_removed_method_is_not_found() -> None:
    refusal = check_body(json.dumps(body("initialize")).encode(), list(head("initialize").items()))
    assert isinstance(refusal, Refusal)
    assert (refusal.status, refusal.code) == (404, -32601)


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b"[" * 100_000])
def test_what_is_no_json(data: bytes) -> None:
    refusal = check_body(data, [])
    assert isinstance(refusal, Refusal)
    assert (refusal.status, refusal.code, refusal.id) == (400, -32700, None)


def test_a_name_may_be_encoded_and_a_notification_passes() -> None:
    encoded = check_body(json.dumps(CALL).encode(), list(head("tools/call", "=?base64?YWRk?=").items()))
    assert isinstance(encoded, Accepted)
    notification = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    assert isinstance(check_body(json.dumps(notification).encode(), list(head(method=None).items())), Accepted)


def test_a_header_that_comes_twice_is_refused() -> None:
    refusal = check_body(json.dumps(body()).encode(), [*head().items(), ("mcp-method", "tools/list")])
    assert isinstance(refusal, Refusal)
    assert (refusal.code, refusal.id) == (-32020, 1)


@pytest.mark.parametrize(
    ("method", "accept", "status"),
    [
        ("POST", (True, True), None),
        ("GET", (True, True), 405),
        ("DELETE", (True, True), 405),
        ("POST", (True, False), 406),
        ("POST", (False, True), 406),
    ],
)
def test_heads(method: str, accept: tuple[bool, bool], status: int | None) -> None:
    refusal = check_head(method, accept)
    assert (refusal.status if refusal else None) == status


SCHEMA = {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}


@pytest.mark.parametrize(
    ("arguments", "headers", "refused"),
    [
        ({"region": "eu"}, [("mcp-param-region", "eu")], False),
        ({"region": "é"}, [("mcp-param-region", "=?base64?w6k=?=")], False),
        ({}, [], False),
        ({"region": "eu"}, [], True),
        ({"region": "eu"}, [("mcp-param-region", "us")], True),
        ({"region": "eu"}, [("mcp-param-region", "eu"), ("mcp-param-region", "eu")], True),
        ({"region": "eu"}, [("mcp-param-region", "=?base64?!?=")], True),
        ({}, [("mcp-param-region", "eu")], True),
    ],
)
def test_headers_that_repeat_arguments(
    arguments: dict[str, str], headers: list[tuple[str, str]], refused: bool
) -> None:
    message = body("tools/call", name="ask", arguments=arguments)
    assert needs_schema(message, headers) is bool(arguments or headers)
    refusal = check_parameters(SCHEMA, message, headers)
    assert (refusal is not None) is refused
    if refusal:
        assert (refusal.status, refusal.code) == (400, -32020)


@pytest.mark.parametrize(
    ("code", "status"), [(-32601, 404), (-32602, 400), (-32021, 400), (-32603, 200), (-32000, 200)]
)
def test_statuses(code: int, status: int) -> None:
    assert status_of(code) == status
