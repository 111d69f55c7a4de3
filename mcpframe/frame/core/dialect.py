"""The interface of a dialect for the composition above it, which names none of its messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from mcpframe.frame.core.events import SessionBegun
from mcpframe.frame.core.roles import Role

TRANSPORT = "transport"
"""The phase in which MCP messages flow; every dialect has it."""
TAB = "tab"
"""The transport phase of a page that was opened by itself: its peers are scripts of its own window."""
SETUP = "setup"
"""A phase of its own in which a page is set up, in dialects that have one."""


@dataclass(frozen=True, eq=False)
class Dialect:
    """One dialect: its tables by phase, and everything else that differs between dialects.

    Attributes:
        name: such as `"sep"`.
        title: the name for people.
        inner: the roles of a framed page, by phase.
        outer: the roles of its host, by phase.
        phase_of: returns the phase that a page's address asks for, from its hash.
        fragments: for each phase but the transport phase, a regular expression that finds it in the hash; the same in
            Python and in JavaScript.
        address_for: returns the address of a page in a phase.
        last_words: returns the message that the script of a framed page posts after Python has ended, from the event
            that began the session.
        never_started: returns the message that it posts to `*` in a phase if Python does not start.
        page_offer: returns the offer of a framed page in the transport phase. Takes by name: `name`, `version`,
            `title`, and `query`, that of the page's address.
        query: a regular expression that finds in the query of a page's address that only this dialect is spoken there;
            the same in Python and in JavaScript. Empty for none.
        host_offer: returns the offer of an outer frame. Takes by name: `session_id`, `granted`, `declined`, `asks`.
        initializes: whether a framed page may be a client, too: MCP's own handshake follows, from either side.
        host_api: `module:class` of the host API, which is called with the event that began the session and with the way
            to the host; empty for a dialect without one.
        shared: whether several clients may be behind one window, so that a server has to tell them apart.
        steps: names for people of the steps of the handshake, by kind of message.
    """

    name: str
    title: str
    inner: Mapping[str, Role]
    outer: Mapping[str, Role]
    phase_of: Callable[[str], str] = lambda fragment: TRANSPORT
    fragments: Mapping[str, str] = field(default_factory=dict)
    address_for: Callable[[str, str], str] = lambda url, phase: url
    last_words: Callable[[SessionBegun], Mapping[str, Any] | None] = lambda event: None
    never_started: Callable[[str], Mapping[str, Any] | None] = lambda phase: None
    page_offer: Callable[..., Any] = lambda **_: None
    query: str = ""
    host_offer: Callable[..., Any] = lambda **_: None
    initializes: bool = True
    host_api: str = ""
    shared: bool = False
    steps: Mapping[str, str] = field(default_factory=dict)
