"""The interface of a dialect for everything above it: no other module names a dialect or one of its messages.

A dialect is a folder in `frame/dialects` whose `dialect.py` has a `DIALECT`. `dialects/available.py` finds it there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mcpframe.frame.core.events import SessionBegun
from mcpframe.frame.core.roles import Role

TRANSPORT = "transport"
"""The phase in which MCP messages flow; every dialect with messages has it."""
TAB = "tab"
"""The transport phase of a page that was opened by itself: its peers are scripts of its own window."""
SETUP = "setup"
"""The phase in which a page is set up, in dialects that have one: see `core.setup`."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Dialect:
    """One dialect: its tables by phase, and everything else that differs between dialects.

    Attributes:
        name: the name in code and configuration, such as `"sep"`: that of its folder.
        title: the name for people.
        preference: the rank among the dialects, the preferred one first.
        inner: the roles of a framed page, by phase. Empty for a dialect without messages: see `document_module`.
        inner_client: the roles of a framed page that is a client, where the wire has to differ; then an author asks
            for the dialect by its name.
        outer: the roles of its host, by phase.
        has_further_roles: whether `ROLES` in its `further_roles.py` has these two, by the names of the attributes.
            A server's bundle goes without: see `dialects/complete.py`.

        phase_of: returns the phase that a page's address asks for, from its hash.
        fragments: for each phase but the transport phase, a regular expression that finds it in the hash; the same in
            Python and in JavaScript.
        address_for: returns the address of a page in a phase.
        query: a regular expression that matches the query of an address where only this dialect is spoken;
            the same in Python and in JavaScript. Empty for none.

        page_offer: returns the offer of a framed page in the transport phase. Takes by name: `name`, `version`,
            `title`, and `query`, that of the page's address.
        setup_offer: returns the offer of a framed page in the setup phase. Takes by name: `visible`, whether it needs
            to be seen, and `permissions`.
        host_offer: returns the offer of an outer frame. Takes by name: `session_id`, `granted`, `declined`, `asks`.

        last_words: returns the message that the script of a framed page posts after Python has ended, from the event
            that began the session.
        never_started: returns the message that it posts to `*` in a phase if Python does not start.
        view_opening: the method of the page's first message, if hosts show a page as the view of a tool. The build
            writes a file with the view, and a script takes the view's place if Python does not start. Empty for none.
        view_confirmation: the page's reply to the host's answer to that. The script posts it before Python runs, as
            hosts hide a view until then.
        view_versions: the values of `protocolVersion` in the answer for which it does.

        initializes: whether a framed page may be a client, too: MCP's own handshake follows, from either side.
        own_forms: whether messages have names of their own, which are not the methods of the JSON-RPC in them.
        host_api: `module:class` of the host API, which is called with the event that began the session and with the way
            to the host; empty for a dialect without one.
        document_property: the property of the document that takes tools, in a dialect without messages.
        document_module: the module that registers a server's tools there, with its function `offer`.
        form_module: the module with the forms that declare a page's tools to its document, with its class `PageForms`.

        steps: names for people of the steps of the handshake, by kind of message.
        for_hosts: how hosts use a page, in a sentence without its full stop; empty for a dialect without hosts.
    """

    name: str
    title: str
    preference: int
    inner: Mapping[str, Role] = field(default_factory=dict)
    inner_client: Mapping[str, Role] = field(default_factory=dict)
    outer: Mapping[str, Role] = field(default_factory=dict)
    has_further_roles: bool = False

    phase_of: Callable[[str], str] = lambda fragment: TRANSPORT
    fragments: Mapping[str, str] = field(default_factory=dict)
    address_for: Callable[[str, str], str] = lambda url, phase: url
    query: str = ""

    page_offer: Callable[..., Any] = lambda **_: None
    setup_offer: Callable[..., Any] = lambda **_: None
    host_offer: Callable[..., Any] = lambda **_: None

    last_words: Callable[[SessionBegun], Mapping[str, Any] | None] = lambda event: None
    never_started: Callable[[str], Mapping[str, Any] | None] = lambda phase: None
    view_opening: str = ""
    view_confirmation: Mapping[str, Any] = field(default_factory=dict)
    view_versions: Sequence[str] = ()

    initializes: bool = True
    own_forms: bool = False
    host_api: str = ""
    document_property: str = ""
    document_module: str = ""
    form_module: str = ""

    steps: Mapping[str, str] = field(default_factory=dict)
    for_hosts: str = ""

    @property
    def has_messages(self) -> bool:
        """Whether it is spoken over a window."""
        return bool(self.inner)

    @property
    def has_setup(self) -> bool:
        """Whether a host sets a page up before its first session."""
        return SETUP in self.outer

    @property
    def has_session_ids(self) -> bool:
        """Whether a host gives each session an id, under which the page stores its values."""
        return self.host_offer(session_id="any") is not None

    @property
    def serves_tabs(self) -> bool:
        """Whether a page that was opened by itself serves the scripts of its own window."""
        return TAB in self.inner or bool(self.document_module)
