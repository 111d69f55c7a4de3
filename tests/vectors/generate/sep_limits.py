"""Messages that every role refuses in every state: too large, too deep, a way to a prototype, ill-formed text."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from tests.vectors.generate.sep_rules import DEAF, READS, RULES, STATES, effect, example, refusal
from tests.vectors.generate.writing import Table

MOST_BYTES = 4096
MOST_NESTING = 12
OPTIONS = {"max_message_bytes": MOST_BYTES, "max_nesting": MOST_NESTING}

_REQUEST = {"payload": {"jsonrpc": "2.0", "id": 7, "method": "m"}}
_ANSWER = {"payload": {"jsonrpc": "2.0", "id": 5, "result": {}}}
_NOTE = {"payload": {"jsonrpc": "2.0", "method": "m"}}

FAULTS: dict[str, tuple[str, str]] = {
    "too large": ("MessageTooLarge", f'"filling":"<<x*{MOST_BYTES}>>"'),
    "too large in UTF-8": ("MessageTooLarge", f'"filling":"<<\\u00e9*{MOST_BYTES // 2}>>"'),
    "too deep": ("MessageTooDeep", f'"filling":<<[*{MOST_NESTING}>><<]*{MOST_NESTING}>>'),
    "too deep in objects": ("MessageTooDeep", f'"filling":<<{{"a":*{MOST_NESTING}>>1<<}}*{MOST_NESTING}>>'),
    "__proto__": ("PrototypeKey", '"__proto__":{"polluted":true}'),
    "__proto__, null": ("PrototypeKey", '"__proto__":null'),
    "__proto__, escaped": ("PrototypeKey", '"\\u005f_proto__":1'),
    "__proto__, deep in a list": ("PrototypeKey", '"filling":[[{"a":{"__proto__":1}}]]'),
    "constructor.prototype": ("PrototypeKey", '"constructor":{"prototype":{"polluted":true}}'),
    "constructor.prototype, deep": ("PrototypeKey", '"filling":{"constructor":{"a":1,"prototype":null}}'),
    "a lone surrogate": ("MalformedMessage", '"filling":"\\ud800"'),
    "a lone low surrogate": ("MalformedMessage", '"filling":["a\\udfffb"]'),
    "surrogates in the wrong order": ("MalformedMessage", '"filling":"\\udc00\\ud800"'),
    "a lone surrogate in a key": ("MalformedMessage", '"filling":{"\\ud83d":1}'),
}
"""The error and the member of each fault, as JSON text."""

HARMLESS = {
    "as deep as allowed": f'"filling":<<[*{MOST_NESTING - 1}>><<]*{MOST_NESTING - 1}>>',
    "brackets in a text": f'"filling":"<<[*{MOST_NESTING * 3}>>"',
    "brackets and quotes in a text": f'"filling":"<<\\"[{{*{MOST_NESTING}>>\\\\"',
    "plain words": '"constructor":"Renzo Piano","prototype":{"a":1},"toString":1,"hasOwnProperty":false',
    "the name as a value": '"filling":["__proto__",{"a":"prototype"}]',
    "constructor with a list": '"constructor":["prototype"]',
    "a pair of surrogates": '"filling":"\\ud83d\\ude00"',
    "the word of a surrogate": '"filling":"\\\\ud800"',
    "every kind of value": '"filling":[null,true,false,0,-0.5,1e300,"",[],{}]',
    "an empty name": '"":1',
}


def tables() -> Iterator[tuple[str, Table]]:
    """Return the files of this part, each with its name."""
    about = "What no message may be, in every state; and what may look like it. Generated: do not edit."
    for role in STATES:
        head = {"about": about, "generated": True, "role": role, "options": OPTIONS}
        cases = [case for state in STATES[role] if state not in DEAF for case in _cases(role, state)]
        yield f"limits_{role.replace(' ', '_')}", {**head, "cases": cases}


def _cases(role: str, state: str) -> Iterator[dict[str, Any]]:
    for kind in [*READS[role], "MCP_NONSENSE"]:
        for fault, (error, member) in FAULTS.items():
            for name, message, waits in _messages(kind, state):
                outcome, following = refusal(role, state, kind, error, *waits)
                for place, text in (("first", _first(message, member)), ("last", _last(message, member))):
                    case = {"state": state, **_asked(waits), "text": text, "outcome": outcome, "next": following}
                    yield {"name": f"{state}: {name}, {fault}, {place}", **case}
        for harmless, member in HARMLESS.items():
            yield from _harmless(role, state, kind, harmless, lambda message, member=member: _first(message, member))
        yield from _harmless(role, state, kind, "as large as allowed", _largest)
    noise = {"source": "another-library"}
    for fault, (_, member) in FAULTS.items():
        yield {
            "name": f"{state}: noise, {fault}",
            "state": state,
            "text": _first(noise, member),
            "outcome": [],
            "next": state,
        }


def _messages(kind: str, state: str) -> Iterator[tuple[str, dict[str, Any], list[dict[str, Any]]]]:
    """Return messages of a type, with who waits for each in an open session."""
    if kind != "MCP_MESSAGE" or state != "open":
        yield kind, example(kind) if kind != "MCP_NONSENSE" else {"type": kind}, []
        return
    yield "a request", {"type": kind, **_REQUEST}, [{"answers": 7, "code": -32600, "to": "peer"}]
    yield "an answer", {"type": kind, **_ANSWER}, [{"fails": 5, "code": -32603}]
    yield "a notification", {"type": kind, **_NOTE}, []


def _harmless(
    role: str, state: str, kind: str, name: str, spell: Callable[[dict[str, Any]], str]
) -> Iterator[dict[str, Any]]:
    if kind == "MCP_NONSENSE" or kind not in RULES[role][state]:
        return
    message = example(kind)
    outcome, following = effect(role, state, message)
    yield {
        "name": f"{state}: {kind}, {name}",
        "state": state,
        "text": spell(message),
        "outcome": outcome,
        "next": following,
    }


def _asked(waits: list[dict[str, Any]]) -> dict[str, Any]:
    return {"asked": [5]} if any("fails" in each for each in waits) else {}


def _first(message: dict[str, Any], member: str) -> str:
    return "{" + member + "," + _plain(message)[1:]


def _last(message: dict[str, Any], member: str) -> str:
    """Return the text of a message with the type behind all that is wrong."""
    return "{" + _plain(dict(reversed(message.items())))[1:-1] + "," + member + "}"


def _largest(message: dict[str, Any]) -> str:
    text = _first(message, '"filling":""')
    return text.replace('""', f'"<<x*{MOST_BYTES - len(text)}>>"', 1)


def _plain(message: dict[str, Any]) -> str:
    return json.dumps(message, separators=(",", ":"))
