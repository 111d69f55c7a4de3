"""Every message type with one thing wrong, where the connection waits for it: refused, and nothing changes.

But for the message after which the peer takes its setup for over: refused, it ends the setup here, too.
"""

from __future__ import annotations

import pytest

from mcpframe.frame.core.events import Closed, Refused
from mcpframe.frame.core.roles import Options, Role, State
from mcpframe.frame.dialects.sep import roles as sep
from tests.hostile.sep import LARGEST, damaged, example
from tests.support.sep import connection_in, hear

AWAITED = {
    "MCP_SETUP_HANDSHAKE": (sep.OUTER_SETUP, State.AWAITING),
    "MCP_SETUP_HANDSHAKE_REPLY": (sep.INNER_SETUP, State.CALLING),
    "MCP_SETUP_COMPLETE": (sep.OUTER_SETUP, State.SETTING_UP),
    "MCP_TRANSPORT_HANDSHAKE": (sep.OUTER_TRANSPORT, State.AWAITING),
    "MCP_TRANSPORT_HANDSHAKE_REPLY": (sep.INNER_TRANSPORT, State.CALLING),
    "MCP_TRANSPORT_ACCEPTED": (sep.OUTER_TRANSPORT, State.CONFIRMING),
    "MCP_SETUP_REQUIRED": (sep.OUTER_TRANSPORT, State.OPEN),
    "MCP_MESSAGE": (sep.OUTER_TRANSPORT, State.OPEN),
}


@pytest.mark.parametrize(("kind", "role", "state"), [(kind, *where) for kind, where in AWAITED.items()], ids=AWAITED)
def test_each_damaged_message_is_refused(kind: str, role: Role, state: State) -> None:
    for name, message in damaged(kind):
        made = connection_in(role, state, Options(max_message_bytes=LARGEST))
        before = (made.state, made.origin, made.deadline)
        outputs = hear(made, message)
        assert isinstance(outputs[0], Refused), name
        if kind == "MCP_SETUP_COMPLETE":
            assert outputs[-1] == Closed(None), name
            continue
        assert (made.state, made.origin, made.deadline) == before, name
    made = connection_in(role, state, Options(max_message_bytes=LARGEST))
    assert not any(isinstance(output, Refused) for output in hear(made, example(kind)))
