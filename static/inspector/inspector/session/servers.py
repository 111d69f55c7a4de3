"""The inspector's list of servers: plain data, stored as JSON.

A server is identified by its session id. The same address may occur more than once, with different sessions.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Final
from urllib.parse import urlsplit

from inspector.wire.entry import shown
from mcpframe.hosts import outer_dialects, parse_address
from mcpframe.wire import Dialect, dialect

ERAS: Final = {
    "auto": "Newest",
    "2026-07-28": "2026-07-28",
    "legacy": "Handshake era",
}
"""The protocol eras, as `mcp.Client(mode=...)` takes them, and their visible names."""

DIALECTS: Final = {each.name: each.title for each in outer_dialects()}
"""The dialects that a page can be framed in, and their visible names."""

PREFERRED: Final = next(iter(DIALECTS))

PLACES: Final = {"iframe": "Frame in this page", "popup": "Window of its own"}
"""The places for a page, and their visible names."""

SANDBOXES: Final = {"standard": "Standard", "popups": "With popups"}
"""The presets of `mcpframe.hosts.SANDBOX` that leave a page its origin, and their visible names."""

VISIBILITIES: Final = ("required", "optional", "hidden")

TIMEOUT: Final = 30.0
"""Seconds from a page's first byte to its handshake, by default."""


@dataclass
class Server:
    """One server, with the session of its stored values.

    Attributes:
        url: the address of its page.
        session_id: the session, which also identifies the server.
        title: its title, as its setup reported it.
        visibility: whether its page is shown: one of `VISIBILITIES`.
        visibility_message: for `optional`, the reason to show it.
        permissions: names of the permissions that were granted.
        set_up: whether a setup was completed.
        connect: whether to connect when the inspector is loaded.
        shown: for `optional`, whether the user has chosen to show it.
        era: one of `ERAS`.
        dialect: one of `DIALECTS`.
        place: one of `PLACES`.
        sandbox: one of `SANDBOXES`.
        timeout: how long to wait for the page's handshake, in seconds.
    """

    url: str
    session_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    title: str = ""
    visibility: str = "hidden"
    visibility_message: str = ""
    permissions: list[str] = field(default_factory=list)
    set_up: bool = False
    connect: bool = True
    shown: bool = False
    era: str = "auto"
    dialect: str = PREFERRED
    place: str = "iframe"
    sandbox: str = "standard"
    timeout: float = TIMEOUT

    @property
    def name(self) -> str:
        """The visible name: its title, or else the end of its address."""
        if self.title:
            return self.title
        parts = urlsplit(self.url)
        return parts.path.strip("/").rpartition("/")[2] or parts.netloc

    @property
    def spoken(self) -> Dialect:
        """The dialect that its page is framed in."""
        return dialect(self.dialect)

    def speak(self, name: str) -> None:
        """Frame its page in another dialect, one of `DIALECTS`; what a setup reported in the earlier one is dropped."""
        self.dialect = name
        self.title = self.visibility_message = ""
        self.visibility = "hidden"
        self.permissions = []
        self.set_up = False

    def introduced(self, title: str) -> None:
        """Take the title from the server itself, in a dialect without a setup; its page may be shown or hidden."""
        self.title = shown(title)  # which is of any length
        self.visibility = "optional"
        self.set_up = True

    @property
    def visible(self) -> bool:
        """Whether its page is shown while it serves."""
        return self.visibility == "required" or (self.visibility == "optional" and self.shown)


class Servers:
    """The servers, oldest first unless moved.

    Attributes:
        selected: the session id of the selected one; empty for none.
    """

    def __init__(self) -> None:
        """Create an empty list."""
        self._all: dict[str, Server] = {}
        self.selected = ""

    def __iter__(self) -> Iterator[Server]:
        return iter(list(self._all.values()))

    def __len__(self) -> int:
        return len(self._all)

    def add(self, server: Server) -> Server:
        self._all[server.session_id] = server
        return server

    def remove(self, session_id: str) -> None:
        """Remove a server; if it was selected, its neighbour is selected."""
        ids = list(self._all)
        if session_id not in ids:
            return
        at = ids.index(session_id)
        del self._all[session_id]
        if self.selected == session_id:
            rest = list(self._all)
            self.selected = rest[min(at, len(rest) - 1)] if rest else ""

    def put_first(self, session_id: str) -> None:
        """Move a server to the top of the list."""
        self._all = {session_id: self._all.pop(session_id), **self._all}

    def clear(self) -> None:
        """Remove all."""
        self._all.clear()
        self.selected = ""

    def with_url(self, url: str) -> Server | None:
        """Return the first server with an address."""
        return next((server for server in self if server.url == url), None)

    def to_json(self) -> dict[str, Any]:
        """Return the data to store."""
        return {"selected": self.selected, "servers": [asdict(server) for server in self]}

    @classmethod
    def from_json(cls, stored: Any) -> Servers:
        """Read stored data. Unusable entries, such as those of another version, are dropped."""
        servers = cls()
        if isinstance(stored, dict):
            entries = stored.get("servers")
            for entry in entries if isinstance(entries, list) else ():
                if server := _read(entry):
                    servers.add(server)
            selected = stored.get("selected")
            if isinstance(selected, str) and selected in servers._all:
                servers.selected = selected
        return servers


def _read(entry: Any) -> Server | None:
    if not isinstance(entry, dict) or not isinstance(entry.get("url"), str):
        return None
    blank = asdict(Server("", session_id=""))
    known = {item.name: entry[item.name] for item in fields(Server) if _like(entry.get(item.name), blank[item.name])}
    if not known.get("session_id"):
        return None
    choices = {"era": ERAS, "dialect": DIALECTS, "place": PLACES, "visibility": VISIBILITIES, "sandbox": SANDBOXES}
    for name, allowed in choices.items():
        if known.get(name) not in allowed:
            known.pop(name, None)
    try:
        parse_address(known["url"])
    except ValueError:
        return None
    return Server(**known)


def _like(value: Any, sample: Any) -> bool:
    """Return whether a value has the type of a field."""
    if isinstance(sample, list):
        return isinstance(value, list) and all(isinstance(item, str) for item in value)
    if isinstance(sample, float):
        return isinstance(value, int | float) and not isinstance(value, bool) and value > 0
    return type(value) is type(sample)


@dataclass(frozen=True)
class Example:
    """An example server.

    Attributes:
        title: its visible name.
        url: its address.
    """

    title: str
    url: str


@dataclass(frozen=True)
class Offered:
    """The content of `examples.json`, which is from the inspector's own origin and not from a link.

    Attributes:
        examples: servers to choose from.
        named: addresses given to the command, which a link may add without confirmation.
        rebuilds: the beginning of the address that reports builds; empty if there are no builds.
        sandbox: the address of the sandbox proxy for views, which has another origin; empty for the inspector's own.
        runs: the address of the playground's page for runs of its projects; empty if there is no playground.
        samples: tool calls to show in servers' own pages, by the servers' addresses: `arguments` and `result`.
        hubs: those of `named` that are hubs, whose tools are of any site.
    """

    examples: tuple[Example, ...] = ()
    named: frozenset[str] = frozenset()
    rebuilds: str = ""
    sandbox: str = ""
    runs: str = ""
    samples: Mapping[str, Any] = field(default_factory=dict)
    hubs: frozenset[str] = frozenset()


def read_offered(text: str) -> Offered:
    """Read `examples.json`: `{"servers": [{"title": …, "url": …}], "named": […], "rebuilds": …, "sandbox": …,
    "runs": …, "samples": {…}, "hubs": […]}`.

    Unusable entries are dropped.
    """
    try:
        found = json.loads(text)
    except ValueError:
        return Offered()
    if not isinstance(found, dict):
        return Offered()
    entries = found.get("servers")
    texts = {name: found[name] for name in ("rebuilds", "sandbox", "runs") if isinstance(found.get(name), str)}
    samples = found.get("samples")
    examples = [
        Example(entry["title"], entry["url"])
        for entry in (entries if isinstance(entries, list) else ())
        if isinstance(entry, dict) and isinstance(entry.get("url"), str) and isinstance(entry.get("title"), str)
    ]
    return Offered(
        tuple(examples),
        _texts(found.get("named")),
        hubs=_texts(found.get("hubs")),
        samples=samples if isinstance(samples, dict) else {},
        **texts,
    )


def _texts(value: object) -> frozenset[str]:
    return frozenset(item for item in (value if isinstance(value, list) else ()) if isinstance(item, str))
