"""The facts about a dialect that tests need: one object each, in the dialect's folder, found by its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from mcpframe.frame.core.connection import Connection
from mcpframe.frame.core.dialect import TRANSPORT
from mcpframe.frame.core.events import Opened, Output
from mcpframe.frame.core.roles import Role
from tests.support.driving import REQUEST, do
from tests.vectors.cases import Case


def _opened(event: Output) -> dict[str, Any]:
    assert isinstance(event, Opened)
    return {"opened": event.session_id}


@dataclass(frozen=True, kw_only=True)
class Parts:
    """A dialect's part in the suites that all dialects pass: the contract, the vectors, noise, any order of messages.

    Attributes:
        roles: its roles, by the names that cases have.
        messages: valid messages of each kind, in both directions, as they are posted.
        call: a message with JSON-RPC in it that the inner side gets once it is open.
        owns: whether an object has the form that all its messages have: others are noise.
        clone_form: the code of a JavaScript function that puts a value into one of its messages.
        is_client: whether its outer side is a client of MCP, and the page a server.
        request: a JSON-RPC request that it carries: of the client, or of a page that is not a server.
        offer: what a role is given for a case: the role, the case, the session id.
        do: lets something local happen to a connection, by its name in a case.
        described: describes an event that only this dialect has, as an outcome.
        json_rpc: the JSON-RPC object in a message as it is posted; None where it has none.
        without_prose: a message that was posted, without what is in mcpframe's own words.
    """

    roles: Mapping[str, Role]
    messages: tuple[Any, ...]
    call: Mapping[str, Any]
    owns: Callable[[dict[str, Any]], bool]
    clone_form: str
    json_rpc: Callable[[Any], Mapping[str, Any] | None]
    is_client: bool = True
    request: Mapping[str, Any] = field(default_factory=lambda: REQUEST)
    offer: Callable[[Role, Case, str], Any] = lambda *_: None
    do: Callable[[Connection, str], list[Output]] = do
    described: Callable[[Output], dict[str, Any]] = _opened
    without_prose: Callable[[dict[str, Any]], dict[str, Any]] = lambda message: message

    def side(self, side: str) -> Role:
        """Return the role of a side in which MCP messages flow."""
        return self.roles[f"{side} {TRANSPORT}"]


@cache
def parts(name: str) -> Parts:
    """Return the parts of a dialect, from its own folder or from its vectors'.

    Its own folder has them if only tests have the dialect: see `tests/support/toy_dialects`.
    """
    own = f"mcpframe.frame.dialects.{name}.parts"
    found: Parts = import_module(own if find_spec(own) else f"tests.vectors.{name}.parts").PARTS
    return found
