"""Events of a connection of any dialect besides its peer's messages, and JSON-RPC for it to carry."""

from __future__ import annotations

import json

from mcpframe.frame.core.connection import Connection
from mcpframe.frame.core.errors import MalformedMessage
from mcpframe.frame.core.events import Departure, Output
from mcpframe.frame.core.roles import Local
from mcpframe.frame.core.setup import Act, SetupReason, SetupRequired, SetupResult
from tests.support.fake_window import FakePort, handing_over

REQUEST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
RESPONSE = {"jsonrpc": "2.0", "id": 1, "result": {}}
NOTIFICATION = {"jsonrpc": "2.0", "method": "notifications/initialized"}

_LATER = [each for each in Local if each not in (Local.START, Local.REPEAT, Local.DEADLINE, Local.PORT)]
LOCALS: tuple[str, ...] = (Local.START, Local.REPEAT, Local.DEADLINE, *Act, *_LATER)
"""Everything that can happen besides a message of the peer."""


def do(made: Connection, local: str, now: float = 0.0) -> list[Output]:
    """Let something local happen to a connection, of `LOCALS`; time passes to whatever it waits for."""
    match local:
        case Local.START:
            return made.start(now)
        case Local.CLOSE:
            return made.close(now)
        case Local.SEND:
            return made.send(json.dumps(NOTIFICATION), NOTIFICATION, now)
        case Act.COMPLETE_SETUP:
            return made.act(local, SetupResult("Pi"), now=now)
        case Act.REQUIRE_SETUP:
            return made.act(local, SetupRequired(SetupReason.OTHER, "again", True), now=now)
        case Local.PORT:
            origin = next(iter(made._first.allowed))
            if made.role.side == "inner":
                return made.receive(handing_over(FakePort(), origin=origin), now)
            return made.handed_over(FakePort(), origin, now) if made._first.takes(local) else []
        case Local.PEER_REPLACED:
            return made.peer_gone(Departure.REPLACED, now)
        case Local.PEER_REMOVED:
            return made.peer_gone(Departure.REMOVED, now)
        case Local.LAST_REFUSED:
            return made._first.happen(Local.LAST_REFUSED, MalformedMessage("status must be a str."), now=now)
        case Local.REPEAT:
            return made.tick(made.options.repeat_interval)
        case Local.DEADLINE:
            return made.tick(1e9)
    raise AssertionError(local)
