"""The messages of the vectors, for connections of other dialects: noise there, valid or broken."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from functools import cache

from mcpframe.frame.dialects.available import spoken_names
from tests.vectors.cases import cases
from tests.vectors.parts import parts
from tests.vectors.python_driver import _text


@cache
def texts(dialect: str) -> tuple[str, ...]:
    """Return each message of a dialect's vectors once, of both sides and directions, as JSON text."""
    found: dict[str, None] = {}
    for case in cases(dialect):
        messages = [case["message"]] if "message" in case else []
        messages += [step for step in case.get("before", ()) if not isinstance(step, str)]
        for text in [*map(_text, messages), *([case["text"]] if "text" in case else [])]:
            if len(text) < 100_000:
                found[text] = None
    return tuple(found)


def foreign(adopted: str) -> Iterator[str]:
    """Return the messages of the other dialects' vectors that are not in the form of this one's."""
    reads_text = any(role.codec.reads_text for role in parts(adopted).roles.values())
    for dialect in spoken_names():
        if dialect == adopted:
            continue
        for text in texts(dialect):
            try:
                data = json.loads(text)
            except ValueError:
                continue
            if isinstance(data, str) and reads_text:
                with suppress(ValueError):
                    data = json.loads(data)
            if not (isinstance(data, dict) and parts(adopted).owns(data)):
                yield text


_ODD = """(() => {
    const cyclic = { jsonrpc: "2.0", id: 5, method: "ping" };
    cyclic.params = { cyclic };
    const large = { jsonrpc: "2.0", id: 5, method: "ping", params: { n: 1n } };
    return [cyclic, large, new Map([[1, 2]]), [, , 1], 1n, undefined];
})()"""


def foreign_clones(adopted: str) -> list[str]:
    """Return messages of the other dialects that only JavaScript can make: each is the code of a list of some."""
    others = [each for each in spoken_names() if not parts(adopted).owns(parts(each).call)]
    forms = [f"{_ODD}.map({parts(each).clone_form})" for each in others]
    return forms + [f"[{case['make']}]" for case in cases("sep") if "make" in case and adopted != "sep"]
