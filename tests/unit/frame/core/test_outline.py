"""Who waits behind a message that is not parsed: in any order of members, with any id, however it is spelt."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcpframe.frame.core.connection import Options
from mcpframe.frame.core.events import Inbound, Received, Refused, Send
from mcpframe.frame.core.outline import Outline, nesting, outline, outline_of, outline_of_ends
from mcpframe.frame.core.roles import Role, State
from mcpframe.frame.dialects.sep import roles as sep
from mcpframe.frame.dialects.sep.codec import CODEC
from tests.support.sep import connection_in, peer_of

ids = st.integers(1 - 2**53, 2**53 - 1) | st.text(max_size=12) | st.sampled_from(["\ud800", '"}', "\\", "a" * 3000])
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
TRANSPORT_ROLES = [sep.INNER_TRANSPORT, sep.OUTER_TRANSPORT]


class Spelling:
    """Writes JSON text with any whitespace, any escapes, and members in any order."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.escaped = draw(st.booleans())
        self.space = draw(st.sampled_from(["", " ", "\n\t "]))

    def text(self, value: Any) -> str:
        space = self.space
        if isinstance(value, dict):
            members = self.draw(st.permutations(list(value.items())))
            inner = [f"{space}{self.text(key)}{space}:{space}{self.text(item)}{space}" for key, item in members]
            return "{" + ",".join(inner) + "}"
        if isinstance(value, list):
            return f"[{space}{f'{space},'.join(map(self.text, value))}]"
        if isinstance(value, str) and self.escaped:
            units = value.encode("utf-16-be", "surrogatepass")
            return '"' + "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2)) + '"'
        return json.dumps(value)


REFUSED: dict[str, Any] = {
    "too large": {"filling": "[" * 300 + "x" * 20_000},
    "too deep": {"filling": [[[[[[[["}]"]]]]]]]]},
    "a prototype key": {"__proto__": {"polluted": True}},
    "a constructor": {"constructor": {"prototype": 1}},
    "a lone surrogate": {"a": "\udc00"},
    "a lone surrogate in a key": {"\ud800": 1},
}
WAYS: dict[str, dict[str, Any]] = {
    "params": {"method": "m", "params": "REFUSED"},
    "result": {"result": "REFUSED"},
    "error": {"error": {"code": 1, "message": "m", "data": "REFUSED"}},
    "beside them": {"method": "m", "more": "REFUSED"},
    "an answer, beside it": {"result": {}, "more": "REFUSED"},
    "the message itself": {"method": "m"},
}
MALFORMED: list[dict[str, Any]] = [
    {"method": "m", "params": [1]},
    {"method": "m", "params": None},
    {"method": 5},
    {"method": "m", "result": {}},
    {"result": 5},
    {"error": {}},
    {"result": {}, "error": {"code": 1, "message": "m"}},
]


@st.composite
def refused(draw: st.DrawFn) -> tuple[str, Any, bool]:
    """The text of a message that is refused, the id in it, and whether it is a request."""
    id_ = draw(ids)
    if draw(st.booleans()):
        body: dict[str, Any] = {"jsonrpc": "2.0", "id": id_, **draw(st.sampled_from(MALFORMED))}
    else:
        reason = REFUSED[draw(st.sampled_from(sorted(REFUSED)))]
        way = draw(st.sampled_from(sorted(WAYS)))
        body = {
            "jsonrpc": "2.0",
            "id": id_,
            **json.loads(json.dumps(WAYS[way]).replace('"REFUSED"', json.dumps(reason))),
        }
        if way == "the message itself":
            body |= reason
    envelope = {"type": "MCP_MESSAGE", "payload": body, **draw(st.dictionaries(st.text("abc"), anything, max_size=2))}
    return Spelling(draw).text(envelope), id_, "method" in body


@pytest.mark.parametrize("role", TRANSPORT_ROLES, ids=lambda role: role.name)
@given(message=refused())
@settings(deadline=None, max_examples=150)
def test_whoever_waits_for_a_refused_message_hears(role: Role, message: tuple[str, Any, bool]) -> None:
    text, id_, is_request = message
    made = connection_in(role, State.OPEN, Options(max_message_bytes=15_000, max_nesting=6))
    if not is_request:
        asked = {"jsonrpc": "2.0", "id": id_, "method": "m"}
        sent = made.send(json.dumps({**asked, "id": 0}), asked, 0.0)
        assert isinstance(sent[0], Send)
    heard = made.receive(Inbound(peer_of(role), True, lambda: text), 0.0)
    assert isinstance(heard[0], Refused)
    [told] = heard[1:]
    if is_request:
        assert isinstance(told, Send)
        told.text.encode()
        answer = json.loads(told.text)["payload"]
        assert (answer["id"], type(answer["id"]), answer["error"]["code"]) == (id_, type(id_), -32600)
    else:
        assert isinstance(told, Received)
        assert (told.payload["id"], told.payload["error"]["code"]) == (id_, -32603)
        assert not [output for output in made.close(0.0) if isinstance(output, Received)]


@given(st.data())
@settings(deadline=None)
def test_an_outline_is_what_a_parser_would_find(data: st.DataObject) -> None:
    names = st.sampled_from(["id", "method", "result", "error", "type", "payload"]) | st.text(max_size=3)
    body = data.draw(st.dictionaries(names, anything))
    envelope = {"type": data.draw(anything), "payload": data.draw(anything) if data.draw(st.booleans()) else body}
    text = Spelling(data.draw).text(envelope)
    found = CODEC.sketch(text)
    assert (CODEC.kind(found), CODEC.ids(found)) == (CODEC.kind(envelope), CODEC.ids(envelope))
    assert outline(Spelling(data.draw).text(body)) == outline_of(body)


@given(st.text(st.sampled_from('{}[]",:\\ \nabidmethod1.'), max_size=60))
def test_what_is_not_json_raises_nothing(text: str) -> None:
    outline(text)
    CODEC.sketch(text)
    outline_of_ends(text, text)


def test_the_last_of_two_members_counts_as_for_a_parser() -> None:
    assert outline('{"id":1,"id":2,"method":"m"}').id == 2
    text = '{"payload":{"id":1,"method":"m"},"payload":{"id":2,"result":{}}}'
    assert CODEC.ids(CODEC.sketch(text)) == Outline("response", 2)


@pytest.mark.parametrize(
    ("head", "tail"),
    [
        ('{"id":7,"method":"m","params":{"x":"yyy', 'yyy"},"jsonrpc":"2.0"}'),
        ('{"params":{"x":"yyy', 'yyy"}, "id" : 7 , "method":"m"} '),
        ('{"method":"m","params":[[["yyy', 'y"\\\\"]]],"jsonrpc":"2.0","id":7}'),
    ],
)
def test_the_ends_of_a_message_that_was_not_kept(head: str, tail: str) -> None:
    assert outline_of_ends(head, tail) == Outline("request", 7, "m")


@pytest.mark.parametrize("filler", ['"a":1,', '"payload":{"a":1},', '"payload":{' + '"a":1,' * 99 + '"b":2},'])
def test_a_message_of_more_members_than_any_is_not_read_to_its_end(filler: str) -> None:
    begun = '{"type":"MCP_MESSAGE","payload":{"id":1,"method":"m"},'
    rest = '"type":"other","payload":{"id":2,"method":"m"}}'
    few, many = CODEC.sketch(begun + filler * 10 + rest), CODEC.sketch(begun + filler * 10_000 + rest)
    assert (few["type"], CODEC.ids(few)) == ("other", Outline("request", 2, "m"))
    assert many["type"] == "MCP_MESSAGE"


def test_the_time_is_linear_whatever_the_text() -> None:
    """Processor times against each other: ten times the text may take at most forty times as long."""
    shapes: dict[str, Callable[[int], str]] = {
        "towers": lambda n: "[" * n + "]" * n,
        "pairs": lambda n: "[" + ",".join(["[]"] * n) + "]",
        "small groups": lambda n: ",".join(['"a":[[1]]'] * n).join("{}"),
        "unclosed": lambda n: "[" * n,
        "quotes": lambda n: '"' + '\\"' * n + '"',
        "open string": lambda n: '"' + '\\"' * n,
        "open string, cut escape": lambda n: '"' + '\\"' * n + "\\",
    }
    read: dict[str, Callable[[str], object]] = {
        "outline": CODEC.sketch,
        "nesting": nesting,
    }
    for (name, shape), (of, reading) in product(shapes.items(), read.items()):
        times = []
        for n in (20_000, 200_000):
            text = f'{{"payload":{{"params":{shape(n)},"id":1,"method":"m"}},"type":"MCP_MESSAGE"}}'
            if "open" in name:
                text = text[: text.rindex(',"id"')]
            rounds = []
            for _ in range(3):
                begun = time.process_time()
                reading(text)
                rounds.append(time.process_time() - begun)
            times.append(min(rounds))
        assert times[1] < times[0] * 40 + 0.05, (of, name)


@pytest.mark.parametrize(
    ("text", "expected"),
    [('["[", [', (2, 2)), ('[]"[[[', (1, 0)), ('["\\"[[["]', (1, 0)), ('["[\\', (1, 1)), ("]][", (0, -1))],
)
def test_the_nesting_of_a_text(text: str, expected: tuple[int, int]) -> None:
    assert nesting(text) == expected
