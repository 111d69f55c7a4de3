"""Allow-lists of exact origins.

An origin is the value of `event.origin` (HTML, section 7.1.1.2, "serialization of an origin"): scheme, host and port,
nothing else. An entry that no browser can send would silently match nothing; it is rejected here, and the error has
the form to write instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from ipaddress import ip_address
from urllib.parse import urlsplit

from mcpframe.frame.core.errors import OriginError

ANY = "*"
OPAQUE = "null"
SELF = "self"
"""An entry of `allowed_origins`: the origin that the page turns out to have, wherever it is published."""
NOT_EXACT = (ANY, OPAQUE, SELF)
"""The entries of `allowed_origins` that are not written as an origin."""
MADE_UP_ADDRESS = "192.0.43.8"
"""The address of every public name for code in a page, which cannot look names up: one of ICANN's own. Those of the
ranges that are set aside for special purposes count as private for some servers, even where they are global."""

_DEFAULT_PORTS = {"http": 80, "https": 443}
_NO_ORIGIN = {"file", "data", "blob", "about", "javascript"}
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*\Z")
_HOST = re.compile(r"[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?\.?\Z|\[[0-9a-f:.]+\]\Z")

_NUMBER_AT_END = re.compile(r"(?:^|\.)(?:[0-9]+|0x[0-9a-f]*)\.?\Z")
_BYTE = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_IPV4 = re.compile(rf"{_BYTE}(?:\.{_BYTE}){{3}}\Z")


@dataclass(frozen=True, slots=True)
class AllowedOrigins:
    """The origins a peer may have.

    Attributes:
        exact: the origins that are allowed, each as a browser serializes it.
        anyone: whether `"*"` was written out, so that every origin but an opaque one is allowed.
        opaque: whether `"null"` was opted in to: sandboxed frames and `file:` pages.
    """

    exact: frozenset[str]
    anyone: bool = False
    opaque: bool = False

    def __contains__(self, origin: str) -> bool:
        """Return whether a message of this `event.origin` is accepted."""
        if origin == OPAQUE:
            return self.opaque
        return self.anyone or origin in self.exact

    def __iter__(self) -> Iterator[str]:
        """Return the entries as they would be written, sorted."""
        yield from sorted(self.exact)
        if self.anyone:
            yield ANY
        if self.opaque:
            yield OPAQUE

    def of(self, _: str) -> AllowedOrigins | None:
        """Return the allow-list of a dialect, which is this one for each of them: see `OriginLists`."""
        return self


@dataclass(frozen=True, slots=True)
class OriginLists:
    """An allow-list for each dialect.

    Attributes:
        common: the list of the dialects without one of their own; None allows no peer.
        own: by dialect, its own list; None allows no peer.
    """

    common: AllowedOrigins | None
    own: Mapping[str, AllowedOrigins | None]

    @property
    def anyone(self) -> bool:
        """Whether `"*"` was written out for a dialect."""
        return any(each is not None and each.anyone for each in (self.common, *self.own.values()))

    def of(self, dialect: str) -> AllowedOrigins | None:
        """Return the allow-list of a dialect; None if it allows no peer."""
        return self.own.get(dialect, self.common)

    def without(self, dialects: Iterable[str]) -> OriginLists:
        """Return the lists, with no peer allowed in these dialects."""
        return replace(self, own={**self.own, **dict.fromkeys(dialects)})


@dataclass(frozen=True, slots=True)
class OriginEntries:
    """The entries of `allowed_origins`, as an author writes them: one list, or a table of lists by dialect.

    Attributes:
        common: the entries for the preferred dialect, and for all without entries of their own.
        own: by dialect, its own entries; an empty tuple allows no peer.
    """

    common: tuple[str, ...] = ()
    own: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        """Return whether there is any entry."""
        return bool(self.common or any(self.own.values()))

    @property
    def all(self) -> tuple[str, ...]:
        """The entries of all lists."""
        return tuple(dict.fromkeys((*self.common, *(entry for entries in self.own.values() for entry in entries))))

    def of(self, dialect: str) -> tuple[str, ...]:
        return self.own.get(dialect, self.common)

    def and_also(self, origin: str) -> OriginEntries:
        """Return the entries with one more in the common list, and in each dialect's own that allows anybody."""
        own = {name: tuple(dict.fromkeys((*each, origin))) if each else each for name, each in self.own.items()}
        return OriginEntries(tuple(dict.fromkeys((*self.common, origin))), own)

    def with_own(self, origin: str) -> OriginEntries:
        """Return the entries with the page's own origin in place of `"self"`.

        It stays as it is, and matches nothing, if the page has an opaque origin: every sandboxed frame has that.
        """
        if origin == OPAQUE:
            return self

        def known(entries: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(origin if entry == SELF else entry for entry in entries)

        return OriginEntries(known(self.common), {name: known(entries) for name, entries in self.own.items()})

    def parse(self, *, opaque: bool = False) -> OriginLists:
        """Check them. In a dialect's own list, `"null"` needs no further opt-in.

        `"self"` is kept, and matches nothing: see `with_own`.

        Args:
            opaque: whether `"null"` is allowed in every dialect.

        Raises:
            OriginError: if an entry cannot match, or there is none.
        """
        if not self and not opaque:
            parse_allowed_origins(())
        lists = {name: _parsed(entries, opaque or OPAQUE in entries) for name, entries in self.own.items()}
        return OriginLists(_parsed(self.common, opaque), lists)


def _parsed(entries: tuple[str, ...], opaque: bool) -> AllowedOrigins | None:
    """Return the allow-list of a dialect; None if it allows no peer."""
    if not (entries or opaque):
        return None
    named = [entry for entry in entries if entry != SELF]
    parsed = parse_allowed_origins(named, opaque=opaque) if named or opaque else AllowedOrigins(frozenset())
    return replace(parsed, exact=parsed.exact | {SELF}) if SELF in entries else parsed


def parse_origin(value: object) -> str:
    """Check one exact origin.

    Args:
        value: such as `"https://chat.example"` or `"http://localhost:8000"`.

    Returns:
        The origin, unchanged.

    Raises:
        OriginError: if no browser would ever report this as an origin.
    """
    if not isinstance(value, str) or not value:
        raise OriginError(f"An origin is a text such as 'https://chat.example', not {value!r}.")
    if "*" in value:
        raise OriginError(f"{value!r}: origins are matched exactly, without wildcards; list each origin.")
    try:
        parts = urlsplit(value)
        port = parts.port
    except ValueError as error:
        raise OriginError(f"{value!r} is not an origin: {error}.") from None
    scheme, host = parts.scheme, parts.hostname or ""
    if scheme in _NO_ORIGIN:
        raise OriginError(
            f"{value!r}: pages of {scheme}: have no origin of their own; serve the page over http or https."
        )
    if not scheme or not host or not _SCHEME.match(scheme):
        raise OriginError(f"{value!r} is not an origin; write scheme and host, such as 'https://chat.example'.")
    if ":" in host:
        host = f"[{host}]"
    if not host.isascii():
        ascii_host = _ascii_host(host) or "its xn-- form"
        raise OriginError(f"{value!r}: browsers report this host in ASCII; write '{scheme}://{ascii_host}'.")
    if not _HOST.match(host) or _is_other_address(host):
        raise OriginError(
            f"{value!r} is not an origin: {host!r} is not a host name, or no address as browsers write it."
        )
    shown_port = "" if port is None or port == _DEFAULT_PORTS.get(scheme) else f":{port}"
    origin = f"{scheme}://{host}{shown_port}"
    if origin != value:
        raise OriginError(f"{value!r} is not written as browsers report this origin: write '{origin}'.")
    return origin


def parse_allowed_origins(origins: Iterable[str], *, opaque: bool = False) -> AllowedOrigins:
    """Check an allow-list.

    Args:
        origins: exact origins; or `"*"` for everyone.
        opaque: whether `"null"` may be allowed too; then it need not be listed.

    Returns:
        The allow-list.

    Raises:
        OriginError: if the list is empty, has another entry than exact origins, or lists `"null"` without the opt-in.
    """
    if isinstance(origins, str):
        raise OriginError(f"allowed_origins is a list; write [{origins!r}].")
    entries = list(origins)
    if OPAQUE in entries and not opaque:
        raise OriginError(
            "'null' is the origin of every sandboxed frame and file, whoever made it; "
            "allow it with allow_opaque = true if that is what you mean."
        )
    named = [entry for entry in entries if entry not in (ANY, OPAQUE)]
    if not entries and not opaque:
        raise OriginError("allowed_origins is empty: list the origins of the pages that may embed this server.")
    return AllowedOrigins(frozenset(map(parse_origin, named)), anyone=ANY in entries, opaque=opaque)


def origin_entries(
    origins: Iterable[str] | Mapping[str, Iterable[str]] | None, dialects: Sequence[str]
) -> OriginEntries:
    """Return the entries of `allowed_origins`; they are not checked.

    Args:
        origins: a list for all dialects, or a table of lists by dialect: one that is missing there allows no peer.
        dialects: the names of all dialects, the preferred one first.

    Raises:
        OriginError: if there is a text in place of a list, or a key of the table is not a dialect.
    """
    if origins is None:
        return OriginEntries()
    if isinstance(origins, str):
        raise OriginError(f"allowed_origins is a list; write [{origins!r}].")
    if not isinstance(origins, Mapping):
        return OriginEntries(tuple(origins))
    for name, entries in origins.items():
        if name not in dialects:
            raise OriginError(f"allowed_origins: {name!r} is not a dialect; possible are {', '.join(dialects)}.")
        if isinstance(entries, str):
            raise OriginError(f"allowed_origins.{name} is a list; write [{entries!r}].")
    first, *others = (tuple(origins.get(name, ())) for name in dialects)
    if OPAQUE in first:
        return OriginEntries((), dict(zip(dialects, (first, *others), strict=True)))
    return OriginEntries(first, {name: own for name, own in zip(dialects[1:], others, strict=True) if own != first})


def ends_in_number(host: str) -> bool:
    """Return whether browsers take a host in lower case for an IPv4 address (WHATWG URL, "ends in a number")."""
    return _NUMBER_AT_END.search(host) is not None


def _is_other_address(host: str) -> bool:
    """Return whether browsers write this IP address differently, as `127.1` (URL Standard, "ends in a number")."""
    if host.startswith("["):
        try:
            written = ip_address(host[1:-1]).compressed
        except ValueError:
            return True
        return "." in host or ("." not in written and written != host[1:-1])  # some versions end in an IPv4 address
    return ends_in_number(host) and not _IPV4.match(host)


def _ascii_host(host: str) -> str | None:
    """Return the ASCII form of a host; None if Python's IDNA 2003 and the browsers' IDNA may differ."""
    try:
        written = host.encode("idna")
        return written.decode() if written.decode("idna") == host else None
    except UnicodeError:
        return None
