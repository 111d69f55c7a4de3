"""Messages of other dialects are noise once a dialect is adopted: every message of every vector, in each of them.

They come from the right window and the right origin, valid and broken, as objects and as their JSON text. None of them
is answered, none reaches the session or the error hook, and none changes the state.
"""

from __future__ import annotations

import json

import pytest

from mcpframe.frame.core.connection import Connection, Options, parse_allowed_origins
from mcpframe.frame.core.events import Inbound, Received, Send
from mcpframe.frame.core.refusal import ORIGIN_REFUSED
from mcpframe.frame.core.roles import State
from mcpframe.frame.dialects.available import inner_candidates, spoken_names
from tests.support.foreign import foreign
from tests.vectors.cases import roles
from tests.vectors.parts import parts
from tests.vectors.python_driver import _connection

PEER = "https://chat.example"
ROLE = "inner transport"


def adopted(dialect: str) -> Connection:
    """Return a connection that began with all dialects, and has adopted this one."""
    candidates = inner_candidates("transport", parse_allowed_origins([PEER]), about={"name": "page", "version": "1"})
    made = Connection(candidates, options=Options(handshake_timeout=60))
    made.start(0.0)
    for step in roles(dialect)["roles"][ROLE]["states"]["open"]:
        if isinstance(step, dict):
            made.receive(Inbound(PEER, True, lambda step=step: json.dumps(step)), 0.0)  # type: ignore[misc]
    assert (made.adopted and made.adopted.dialect, made.state) == (dialect, State.OPEN)
    return made


@pytest.mark.parametrize("as_text", [False, True], ids=["objects", "texts"])
@pytest.mark.parametrize("dialect", spoken_names())
def test_every_message_of_every_other_dialect_is_noise(dialect: str, as_text: bool) -> None:
    made = adopted(dialect)
    heard = {}
    messages = list(foreign(dialect))
    assert len(messages) > 200
    for text in messages:
        posted = json.dumps(text) if as_text else text
        if outputs := made.receive(Inbound(PEER, True, lambda posted=posted: posted), 1.0):  # type: ignore[misc]
            heard[text] = outputs
    assert heard == {}
    assert made.dropped == {"noise": len(messages)}
    assert made.deadline is None
    (received,) = made.receive(Inbound(PEER, True, lambda: json.dumps(parts(dialect).call)), 2.0)
    assert isinstance(received, Received)
    if parts(dialect).is_client:
        answer = {"jsonrpc": "2.0", "id": 1, "result": {}}
        (sent,) = made.send(json.dumps(answer), answer, 2.0)
        assert isinstance(sent, Send)
        assert sent.target_origin == PEER


SINGLE = [
    (dialect, role)
    for dialect in spoken_names()
    for role, about in roles(dialect)["roles"].items()
    if "open" in about["states"]
]


@pytest.mark.parametrize(("dialect", "role"), SINGLE, ids=[" ".join(each) for each in SINGLE])
def test_so_it_is_to_each_role_alone(dialect: str, role: str) -> None:
    table = roles(dialect)
    about = table["roles"][role]
    peer = about["peer"]
    made = _connection({"role": role, "state": "open"}, parts(dialect), table["session"], peer)
    for step in about["states"]["open"]:
        if isinstance(step, str):
            parts(dialect).do(made, step)
        else:
            made.receive(Inbound(peer, True, lambda step=step: json.dumps(step)), 0.0)  # type: ignore[misc]
    assert made.state is State.OPEN
    # A page refuses an origin in the same words whatever the dialect: to an outer side it is not noise.
    messages = [text for text in foreign(dialect) if not (role.startswith("outer") and ORIGIN_REFUSED in text)]
    assert len(messages) > 200
    heard = [text for text in messages if made.receive(Inbound(peer, True, lambda text=text: text), 1.0)]  # type: ignore[misc]
    assert heard == []
    assert made.state is State.OPEN
