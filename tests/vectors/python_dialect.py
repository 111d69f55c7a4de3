"""What the Python driver has to know of a dialect: one object each, such as `python_sep.SEP`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from mcpframe.frame.core.connection import Connection
from mcpframe.frame.core.events import Output
from mcpframe.frame.core.roles import Role
from tests.vectors.cases import Case


@dataclass(frozen=True)
class PythonDialect:
    """A dialect as Python speaks it.

    Attributes:
        roles: its roles, by the names that cases have.
        offer: what a role is given for a case: the role, the case, the session id.
        do: lets something local happen to a connection, by its name in a case.
        described: describes an event that only this dialect has, as an outcome.
        json_rpc: the JSON-RPC object in a message as it is posted; None where it has none.
        without_prose: a message that was posted, without what is in mcpframe's own words.
    """

    roles: Mapping[str, Role]
    offer: Callable[[Role, Case, str], Any]
    do: Callable[[Connection, str], list[Output]]
    described: Callable[[Output], dict[str, Any]]
    json_rpc: Callable[[Any], Mapping[str, Any] | None]
    without_prose: Callable[[dict[str, Any]], dict[str, Any]]
