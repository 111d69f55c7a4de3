"""The bridge's stdio framing: whatever bytes come, each line is a message or gets an answer."""

from __future__ import annotations

import json

import pytest

from mcpframe.kit.edges.stdio.lines import Broken, Line, Lines

PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'


def fed(*chunks: bytes, **limits: int) -> list[Line | Broken]:
    lines = Lines(**limits)
    return [line for chunk in chunks for line in lines.feed(chunk)]


def answer(data: bytes, **limits: int) -> dict[str, object]:
    [line] = fed(data, **limits)
    assert isinstance(line, Broken)
    found: dict[str, object] = json.loads(line.answer)
    assert "\n" not in line.answer
    assert line.answer.encode("utf-8")
    return found


def test_messages_pass_as_they_are() -> None:
    text = '{ "jsonrpc":"2.0",\t"id" : "ü1", "method":"ping", "params":{"big":12345678901234567890} }'
    [line] = fed(text.encode() + b"\r\n")
    assert isinstance(line, Line)
    assert (line.text, line.message["id"]) == (text, "ü1")


@pytest.mark.parametrize(("written", "id_"), [("1.0", 1), ("1e3", 1000), ("-0.0", 0)])
def test_an_id_that_is_written_as_a_fraction_is_an_integer(written: str, id_: int) -> None:
    [line] = fed(f'{{"jsonrpc":"2.0","id":{written},"method":"ping","params":{{"a":1.5}}}}\n'.encode())
    assert isinstance(line, Line)
    message = {"jsonrpc": "2.0", "id": id_, "method": "ping", "params": {"a": 1.5}}
    assert line.message == json.loads(line.text) == message
    assert type(line.message["id"]) is type(json.loads(line.text)["id"]) is int


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_it_does_not_matter_how_bytes_come(size: int) -> None:
    data = PING + b"\n\n" + PING + b"\r\n" + '{"jsonrpc":"2.0","method":"é"}\n'.encode()
    lines = fed(*(data[start : start + size] for start in range(0, len(data), size)))
    assert [line.message["method"] for line in lines if isinstance(line, Line)] == ["ping", "ping", "é"]


def test_the_last_line_need_not_end() -> None:
    lines = Lines()
    assert list(lines.feed(PING)) == []
    [line] = lines.end()
    assert isinstance(line, Line)
    assert list(lines.end()) == []


@pytest.mark.parametrize(
    ("line", "code", "id_"),
    [
        (b"{", -32700, None),
        (b"nonsense", -32700, None),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping"', -32700, None),
        (b'{"jsonrpc":"2.0","id":NaN,"method":"ping"}', -32700, None),
        (b"\xff\xfe{}", -32700, None),
        (b"[" * 200_000, -32700, None),
        (b"[]", -32600, None),
        (b"[" + PING + b"]", -32600, None),
        (b"17", -32600, None),
        (b"{}", -32600, None),
        (b'{"jsonrpc":"1.0","id":7,"method":"ping"}', -32600, 7),
        (b'{"jsonrpc":"2.0","id":7,"method":17}', -32600, 7),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":7,"method":"ping","params":[]}', -32600, 7),
        (b'{"jsonrpc":"2.0","id":7,"result":{},"error":{}}', -32600, None),
        (b'{"jsonrpc":"2.0","id":7,"method":"ping","params":{"a":["\\ud800"]}}', -32600, 7),
        (b'{"jsonrpc":"2.0","id":7,"method":"\\udfff"}', -32600, 7),
        (b'{"jsonrpc":"2.0","id":"a\\ud800","method":"ping"}', -32600, "a\ud800"),
        (b'{"jsonrpc":"2.0","id":"\xed\xa0\x80","method":"ping"}', -32700, None),
        (b'{"jsonrpc":"2.0","id":7,"method":"ping","params":{"__proto__":{}}}', -32600, 7),
        (b'{"jsonrpc":"2.0","id":7,"method":"ping","params":{"a":' + b"[" * 200 + b"]" * 200 + b"}}", -32600, 7),
    ],
)
def test_what_is_no_message_is_answered(line: bytes, code: int, id_: object) -> None:
    found = answer(line + b"\n")
    assert (found["id"], found["error"]["code"]) == (id_, code)  # type: ignore[index]


def test_a_line_that_is_too_long_is_answered_by_its_id_and_not_kept() -> None:
    lines = Lines(max_bytes=10_000)
    head = b'{"jsonrpc":"2.0","id":"me","method":"tools/call","params":{"x":"'
    for chunk in [head, *[b"x" * 4096] * 1000]:
        assert list(lines.feed(chunk)) == []
        assert sum(map(len, lines._parts)) <= 10_000 + 4096
    [line] = lines.feed(b'"}}\n')
    assert isinstance(line, Broken)
    found = json.loads(line.answer)
    assert (found["id"], found["error"]["code"]) == ("me", -32600)
    assert "4,096,0" in found["error"]["message"]
    [after] = lines.feed(PING + b"\n")
    assert isinstance(after, Line)


def test_an_answer_that_is_too_long_gets_no_answer_with_its_id() -> None:
    data = b'{"jsonrpc":"2.0","id":5,"result":{"x":"' + b"x" * 5000 + b'"}}\n'
    assert answer(data, max_bytes=2000)["id"] is None
