"""Reading the eight messages in all three dialects; what is sent is understood by each of them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mcpframe.frame.core.events import Send
from mcpframe.frame.core.roles import State
from mcpframe.frame.core.setup import (
    Act,
    Permission,
    SetupCompleted,
    SetupErrorCode,
    SetupReason,
    SetupRequired,
    SetupResult,
    SetupStarted,
    Visibility,
)
from mcpframe.frame.dialects.sep import roles as sep
from mcpframe.frame.dialects.sep.messages import phase_of
from mcpframe.frame.dialects.sep.offers import PageOffer
from tests.support.sep import (
    FRAME,
    MESSAGES,
    SESSION,
    SETUP_COMPLETES,
    SETUP_FAILED,
    SETUP_HANDSHAKES,
    connection,
    connection_in,
    hear,
)


@pytest.mark.parametrize(
    ("fragment", "phase"),
    [
        ("", "transport"),
        ("#", "transport"),
        ("#setup", "setup"),
        ("setup", "setup"),
        ("#visible", "transport"),
        ("#setup,visible", "setup"),
        ("#visible,setup", "setup"),
        ("#nosetup", "transport"),
        ("#setups", "transport"),
        ("#Setup", "transport"),
        ("#setup=1", "transport"),
        ("#a/setup", "transport"),
        ("#no,setup2,xsetup", "transport"),
    ],
)
def test_phase_is_told_by_exact_tokens(fragment: str, phase: str) -> None:
    assert phase_of(fragment) == phase


@pytest.mark.parametrize("dialect", SETUP_HANDSHAKES)
def test_setup_handshake_of_every_dialect(dialect: str) -> None:
    made = connection_in(sep.OUTER_SETUP, State.AWAITING)
    _, started = hear(made, SETUP_HANDSHAKES[dialect])
    permissions = (Permission("camera", ("setup",), True, "Scan a code"),) if dialect == "C" else ()
    assert started == started_event(permissions)


@pytest.mark.parametrize("dialect", SETUP_COMPLETES)
def test_setup_result_of_every_dialect(dialect: str) -> None:
    made = connection_in(sep.OUTER_SETUP, State.SETTING_UP)
    completed, _ = hear(made, SETUP_COMPLETES[dialect])
    assert completed == SetupCompleted(SetupResult("Pi", Visibility.OPTIONAL, "See the points", "Ready"))


def test_failed_setup() -> None:
    made = connection_in(sep.OUTER_SETUP, State.SETTING_UP)
    completed, _ = hear(made, SETUP_FAILED)
    assert completed == SetupCompleted(
        SetupResult("Pi", error_code=SetupErrorCode.AUTH_FAILED, error_message="Wrong password")
    )
    # A frame that failed may have neither a title nor a visibility to tell.
    made = connection_in(sep.OUTER_SETUP, State.SETTING_UP)
    bare = {key: SETUP_FAILED[key] for key in ("type", "status", "error")}
    [completed, _] = hear(made, bare)
    assert isinstance(completed, SetupCompleted)
    assert completed.result.error_code is SetupErrorCode.AUTH_FAILED


def test_setup_required() -> None:
    made = connection_in(sep.OUTER_TRANSPORT, State.OPEN)
    assert hear(made, MESSAGES["MCP_SETUP_REQUIRED"]) == [
        SetupRequired(SetupReason.AUTH_EXPIRED, "Sign in again", can_continue=False)
    ]


def started_event(permissions: tuple[Permission, ...]) -> SetupStarted:
    return SetupStarted(dialect="sep", origin=FRAME, session_id=SESSION, requires_visible=True, permissions=permissions)


def sent(outputs: list[Any]) -> dict[str, Any]:
    [message] = [json.loads(output.text) for output in outputs if isinstance(output, Send)]
    assert isinstance(message, dict)
    return message


def test_setup_handshake_is_the_union_of_the_dialects() -> None:
    permission = Permission("camera", ("setup",), True, "Scan a code")
    made = connection(sep.INNER_SETUP, offer=PageOffer(requires_visible_setup=True, permissions=(permission,)))
    handshake = sent(made.start(0.0))
    for dialect in SETUP_HANDSHAKES.values():
        assert handshake.keys() >= dialect.keys()
    assert handshake["requestedPermissions"] == SETUP_HANDSHAKES["C"]["requestedPermissions"]
    outer = connection_in(sep.OUTER_SETUP, State.AWAITING)
    assert hear(outer, handshake)[1] == started_event((permission,))


@pytest.mark.parametrize(
    "result",
    [
        SetupResult("Pi"),
        SetupResult("Pi", Visibility.REQUIRED, None, "Ready"),
        SetupResult("Pi", Visibility.OPTIONAL, "See the points"),
        SetupResult("", error_code=SetupErrorCode.USER_CANCELLED, error_message="Never mind"),
    ],
)
def test_setup_result_reads_back(result: SetupResult) -> None:
    message = sent(connection_in(sep.INNER_SETUP, State.SETTING_UP).act(Act.COMPLETE_SETUP, result, now=0.0))
    outer = connection_in(sep.OUTER_SETUP, State.SETTING_UP)
    assert hear(outer, message)[0] == SetupCompleted(result)


@pytest.mark.parametrize(
    "long", ["x" * 4097, "\U0001f600" * 3000, "x" * 4095 + "\U0001f600\U0001f600", "\ud800" * 5000]
)
def test_texts_of_an_author_are_cut_to_what_a_host_takes(long: str) -> None:
    """Else the host would take them for missing, and a wish for a new setup for malformed."""
    failed = SetupResult(long, Visibility.OPTIONAL, long, long, SetupErrorCode.TIMEOUT, long)
    message = sent(connection_in(sep.INNER_SETUP, State.SETTING_UP).act(Act.COMPLETE_SETUP, failed, now=0.0))
    completed = hear(connection_in(sep.OUTER_SETUP, State.SETTING_UP), message)[0]
    assert isinstance(completed, SetupCompleted)
    result = completed.result
    read = [result.title, result.visibility_message, result.ephemeral_message, result.error_message]
    [text] = set(read)
    assert text
    assert text.endswith("…")
    assert len(text) > 2000
    wanted = SetupRequired(SetupReason.OTHER, long, can_continue=True)
    message = sent(connection_in(sep.INNER_TRANSPORT, State.OPEN).act(Act.REQUIRE_SETUP, wanted, now=0.0))
    assert hear(connection_in(sep.OUTER_TRANSPORT, State.OPEN), message) == [
        SetupRequired(SetupReason.OTHER, text, can_continue=True)
    ]


def test_setup_required_reads_back() -> None:
    wanted = SetupRequired(SetupReason.CONFIG_CHANGED, "Pick a file again", can_continue=True)
    message = sent(connection_in(sep.INNER_TRANSPORT, State.OPEN).act(Act.REQUIRE_SETUP, wanted, now=0.0))
    assert hear(connection_in(sep.OUTER_TRANSPORT, State.OPEN), message) == [wanted]


def test_version_one_handshake_of_the_reference_is_spelt_out() -> None:
    assert sent(connection(sep.INNER_TRANSPORT).start(0.0)) == {
        "type": "MCP_TRANSPORT_HANDSHAKE",
        "protocolVersion": "1.0",
    }
    assert sent(hear(connection_in(sep.OUTER_TRANSPORT, State.AWAITING), MESSAGES["MCP_TRANSPORT_HANDSHAKE"])) == {
        "type": "MCP_TRANSPORT_HANDSHAKE_REPLY",
        "sessionId": SESSION,
        "protocolVersion": "1.0",
    }
    assert sent(hear(connection_in(sep.INNER_TRANSPORT, State.CALLING), MESSAGES["MCP_TRANSPORT_HANDSHAKE_REPLY"])) == {
        "type": "MCP_TRANSPORT_ACCEPTED",
        "sessionId": SESSION,
    }
