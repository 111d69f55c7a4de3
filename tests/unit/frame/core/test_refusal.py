"""A page tells a host that it is not allowed: what, to whom, how often, and what the host makes of it."""

from __future__ import annotations

import json
from typing import Any, NoReturn

import pytest

from mcpframe.frame.core.connection import Candidate, Connection, parse_allowed_origins
from mcpframe.frame.core.errors import HandshakeRefused, UnexpectedOrigin
from mcpframe.frame.core.events import Closed, Inbound, Refused, Send
from mcpframe.frame.core.refusal import refused_origin
from mcpframe.frame.core.roles import Role, State
from mcpframe.frame.dialects.available import dialects, inner_candidates
from mcpframe.frame.dialects.sep import roles as sep
from tests.support.fake_window import STRANGER
from tests.support.sep import FRAME, HOST, MESSAGES, connection_in, hear
from tests.vectors.cases import roles
from tests.vectors.parts import parts
from tests.vectors.python_driver import play

REPLY = MESSAGES["MCP_TRANSPORT_HANDSHAKE_REPLY"]


def page(*origins: str, called: bool = False, refused: bool = False, **own: list[str]) -> Connection:
    """Return a page that allows these origins, and has called."""
    lists: Any = parse_allowed_origins([each for each in origins if each != "null"], opaque="null" in origins)
    candidates = [
        Candidate(each.role, parse_allowed_origins(own[each.role.dialect]), each.offer)
        if each.role.dialect in own
        else each
        for each in inner_candidates("transport", lists)
    ]
    made = Connection(candidates, names_refusal=True)
    made.start(0.0, called=called, refused=refused)
    return made


def unread() -> NoReturn:
    raise AssertionError("a stranger's message was read")


def told(made: Connection, origin: str, *, from_peer: bool = True) -> list[tuple[Any, str]]:
    """Return what is posted when a message of this origin comes, which is not read."""
    outputs = made.receive(Inbound(origin, from_peer, unread), 0.0)
    return [(json.loads(output.text), output.target_origin) for output in outputs if isinstance(output, Send)]


def refusal(origin: str) -> dict[str, str]:
    return {"type": "mcpframe-origin-refused", "origin": origin}


def test_a_host_of_another_origin_is_told_once_and_nothing_of_the_list() -> None:
    made = page(HOST)
    assert told(made, STRANGER) == [(refusal(STRANGER), STRANGER)]
    assert told(made, STRANGER) == told(made, "https://third.example") == told(made, "null") == []
    assert isinstance(hear(made, REPLY, origin=HOST)[0], Send)  # an allowed host is not kept out by that


def test_an_opaque_host_has_no_name_to_post_to() -> None:
    assert told(page("*"), "null") == [(refusal("null"), "*")]
    assert told(page(HOST, "null"), "null" + "ish") == [(refusal("nullish"), "nullish")]


def test_nobody_is_told_by_other_windows_or_after_pinning_or_again_after_the_page_s_script() -> None:
    assert told(page(HOST), STRANGER, from_peer=False) == []
    assert told(page(HOST, called=True, refused=True), STRANGER) == []
    made = page(HOST)
    hear(made, REPLY, origin=HOST)
    assert told(made, STRANGER) == []
    checked = page(HOST)  # by a client of MCP-B, whose origin is pinned before the session
    hear(
        checked, {"channel": "mcp-iframe", "type": "mcp", "direction": "client-to-server", "payload": "mcp-check-ready"}
    )
    assert checked.origin is None
    assert told(checked, STRANGER) == []


def test_an_origin_of_one_dialect_is_told_in_another() -> None:
    made = page(HOST, mcp_apps=["*"])
    outputs = hear(made, REPLY, origin=STRANGER)
    [sent] = [output for output in outputs if isinstance(output, Send)]
    assert (json.loads(sent.text), sent.target_origin) == (refusal(STRANGER), STRANGER)
    assert any(isinstance(output, Refused) and isinstance(output.error, UnexpectedOrigin) for output in outputs)


def test_a_connection_tells_nobody_unless_it_is_a_page_s() -> None:
    made = Connection(inner_candidates("transport", parse_allowed_origins([HOST])))
    made.start(0.0)
    assert told(made, STRANGER) == []


OUTER = [
    pytest.param(sep.OUTER_SETUP, State.AWAITING, id="setup, awaiting"),
    pytest.param(sep.OUTER_SETUP, State.SETTING_UP, id="setup, setting up"),
    pytest.param(sep.OUTER_TRANSPORT, State.AWAITING, id="transport, awaiting"),
    pytest.param(sep.OUTER_TRANSPORT, State.CONFIRMING, id="transport, confirming"),
]


@pytest.mark.parametrize(("role", "state"), OUTER)
def test_a_host_that_is_told_so_ends_with_its_origin(role: Role, state: State) -> None:
    made = connection_in(role, state)
    [closed] = hear(made, refusal(HOST), origin=FRAME)
    assert isinstance(closed, Closed)
    assert isinstance(closed.error, HandshakeRefused)
    assert HOST in str(closed.error)
    assert "allowed_origins" in str(closed.error)


@pytest.mark.parametrize("origin", [STRANGER, "null", HOST])
def test_another_page_in_the_frame_ends_nothing(origin: str) -> None:
    made = connection_in(sep.OUTER_TRANSPORT, State.CONFIRMING)
    made.receive(Inbound(origin, True, unread), 0.0)
    assert made.state is State.CONFIRMING


def test_in_a_session_and_to_a_page_it_is_noise() -> None:
    for made, peer in (
        (connection_in(sep.OUTER_TRANSPORT, State.OPEN), FRAME),
        (connection_in(sep.INNER_TRANSPORT, State.CALLING), HOST),
        (connection_in(sep.INNER_TRANSPORT, State.OPEN), HOST),
    ):
        before = made.state
        assert hear(made, refusal(HOST), origin=peer) == []
        assert made.state is before
        assert made.dropped == {"noise": 1}


@pytest.mark.parametrize("dialect", [each.name for each in dialects()])
def test_a_host_of_every_dialect_ends_before_the_page_has_heard_of_it(dialect: str) -> None:
    """A page server, and a page of mcp-ui, open the session with their first message: their hosts end in it, too."""
    opens_unheard = dialect in ("mcp_b", "mcp_ui")
    for name, role in parts(dialect).roles.items():
        for state in roles(dialect)["roles"][name]["states"]:
            played = play({"name": state, "role": name, "state": state, "message": refusal(HOST)}, dialect)
            ends = role.side == "outer" and state not in ("idle", "closed") and (state != "open" or opens_unheard)
            assert played == {
                "outcome": [{"closed": "HandshakeRefused"}] if ends else [],
                "next": "closed" if ends else state,
            }, name


@pytest.mark.parametrize(
    ("said", "read"),
    [
        (HOST, HOST),
        ("null", "null"),
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000"),
        ("<b>click</b>", ""),
        (f"{HOST}/path", ""),
        ("x" * 100_000, ""),
        (None, ""),
        ([HOST], ""),
        (7, ""),
    ],
)
def test_only_an_origin_is_repeated_to_people(said: Any, read: str) -> None:
    assert refused_origin({"type": "mcpframe-origin-refused", "origin": said}) == read
