"""Which origins are one, and who is allowed: as a table."""

from __future__ import annotations

from typing import Any

import pytest

from mcpframe.frame.core.allowed_origins import SELF, OriginEntries, origin_entries, parse_allowed_origins, parse_origin
from mcpframe.frame.core.errors import OriginError

GOOD = [
    "https://chat.example",
    "http://localhost:8000",
    "http://127.0.0.1:3000",
    "http://[::1]:3000",
    "https://xn--bcher-kva.example",
    "https://a_b.example",
    "https://trailing-dot.example.",
    "chrome-extension://abcdefghijklmnopabcdefghijklmnop",
    "vscode-webview://0a1b2c",
]

# What was written, and what the error says to write or why not.
BAD = [
    ("https://chat.example/", "write 'https://chat.example'"),
    ("https://chat.example/app", "write 'https://chat.example'"),
    ("https://chat.example?x", "write 'https://chat.example'"),
    ("https://chat.example#x", "write 'https://chat.example'"),
    ("https://user@chat.example", "write 'https://chat.example'"),
    ("https://user:pw@chat.example", "write 'https://chat.example'"),
    ("HTTPS://chat.example", "write 'https://chat.example'"),
    ("https://Chat.Example", "write 'https://chat.example'"),
    ("https://chat.example:443", "write 'https://chat.example'"),
    ("http://chat.example:80", "write 'http://chat.example'"),
    ("https://chat.example:", "write 'https://chat.example'"),
    ("https://bücher.example", "write 'https://xn--bcher-kva.example'"),
    ("https://faß.example", "its xn-- form"),
    ("https://exa。mple", "its xn-- form"),
    ("https://*.example", "without wildcards"),
    ("https://*", "without wildcards"),
    ("chat.example", "scheme and host"),
    ("//chat.example", "scheme and host"),
    ("https://", "scheme and host"),
    ("https:chat.example", "scheme and host"),
    ("https://chat.example:0x50", "not an origin"),
    ("https://chat.example:99999", "not an origin"),
    ("https://[::1", "not an origin"),
    ("https://chat example", "not a host name"),
    ("https://-chat.example", "not a host name"),
    (" https://chat.example", "not"),
    ("https://chat.example ", "not"),
    ("https://chat.example\n", "not"),
    ("file:///home/page.html", "no origin of their own"),
    ("data:text/html,x", "no origin of their own"),
    ("javascript:alert(1)", "no origin of their own"),
    ("", "not ''"),
    (None, "not None"),
    (7, "not 7"),
]


@pytest.mark.parametrize("origin", GOOD)
def test_an_origin_as_a_browser_reports_it_is_taken(origin: str) -> None:
    assert parse_origin(origin) == origin


@pytest.mark.parametrize(("value", "hint"), BAD)
def test_anything_else_is_refused_with_what_to_write(value: Any, hint: str) -> None:
    with pytest.raises(OriginError) as caught:
        parse_origin(value)
    assert hint in str(caught.value)


@pytest.mark.parametrize(
    "stranger",
    [
        "http://chat.example",
        "https://chat.example:8443",
        "https://evilchat.example",
        "https://chat.example.evil.example",
        "https://sub.chat.example",
        "https://chat.exampl",
        "https://chat.example/",
        "HTTPS://CHAT.EXAMPLE",
        "https://chat.example\u0000",
        "",
        "null",
        "*",
        "undefined",
    ],
)
def test_origins_are_matched_exactly(stranger: str) -> None:
    allowed = parse_allowed_origins(["https://chat.example"])
    assert "https://chat.example" in allowed
    assert stranger not in allowed


def test_wildcard_only_when_written_out_and_never_for_opaque() -> None:
    anyone = parse_allowed_origins(["*"])
    assert anyone.anyone
    assert "https://whoever.example" in anyone
    assert "null" not in anyone


def test_opaque_only_by_opt_in() -> None:
    with pytest.raises(OriginError, match="allow_opaque"):
        parse_allowed_origins(["null"])
    assert "null" in parse_allowed_origins(["https://chat.example"], opaque=True)
    assert "null" in parse_allowed_origins(["null"], opaque=True)


@pytest.mark.parametrize("origins", [[], (), set()])
def test_empty_list_is_refused(origins: Any) -> None:
    with pytest.raises(OriginError, match="empty"):
        parse_allowed_origins(origins)


def test_a_text_is_not_a_list() -> None:
    with pytest.raises(OriginError, match=r"write \['https://chat.example'\]"):
        parse_allowed_origins("https://chat.example")


def test_list_reads_back_as_written() -> None:
    assert list(parse_allowed_origins(["*", "https://b.example", "https://a.example"], opaque=True)) == [
        "https://a.example",
        "https://b.example",
        "*",
        "null",
    ]


DIALECTS = ("first", "second", "third")


def test_one_list_is_for_every_dialect() -> None:
    entries = origin_entries(["https://chat.example"], DIALECTS)
    assert entries == OriginEntries(("https://chat.example",))
    lists = entries.parse()
    assert all("https://chat.example" in (lists.of(name) or ()) for name in DIALECTS)
    assert not lists.anyone


def test_a_table_has_a_list_for_each_dialect_and_nobody_for_the_others() -> None:
    entries = origin_entries({"first": ["https://chat.example"], "second": ["*"]}, DIALECTS)
    assert entries.common == ("https://chat.example",)
    assert entries.own == {"second": ("*",), "third": ()}
    assert entries.all == ("https://chat.example", "*")
    lists = entries.parse()
    first, second = lists.of("first"), lists.of("second")
    assert first is not None
    assert second is not None
    assert "https://whoever.example" not in first
    assert "https://whoever.example" in second
    assert "null" not in second
    assert lists.of("third") is None
    assert lists.anyone


def test_the_same_list_twice_is_one() -> None:
    table = {name: ["https://chat.example"] for name in DIALECTS}
    assert origin_entries(table, DIALECTS) == origin_entries(["https://chat.example"], DIALECTS)


@pytest.mark.parametrize("name", DIALECTS)
def test_in_a_dialects_own_list_null_is_the_opt_in(name: str) -> None:
    lists = origin_entries({name: ["null"]}, DIALECTS).parse()
    for each in DIALECTS:
        assert ("null" in (lists.of(each) or ())) is (each == name)
    everywhere = origin_entries({name: ["*"]}, DIALECTS).parse(opaque=True)
    assert all("null" in (everywhere.of(each) or ()) for each in DIALECTS)


@pytest.mark.parametrize("table", [{}, {"first": []}, {"second": (), "third": []}])
def test_a_table_that_names_nobody_is_refused(table: Any) -> None:
    with pytest.raises(OriginError, match="empty"):
        origin_entries(table, DIALECTS).parse()


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"fourth": ["*"]}, "first, second, third"),
        ({"second": "*"}, r"allowed_origins\.second is a list"),
        ({"second": ["chat.example"]}, "scheme and host"),
    ],
)
def test_a_table_that_cannot_be_used(table: Any, said: str) -> None:
    with pytest.raises(OriginError, match=said):
        origin_entries(table, DIALECTS).parse()


HERE, CHAT = "https://here.example", "https://chat.example"


def test_self_is_the_pages_own_origin() -> None:
    entries = OriginEntries((SELF, CHAT), {"mcp_apps": (SELF,), "mcp_ui": (CHAT,)})
    lists = entries.with_own(HERE).parse()
    assert {name: list(lists.of(name) or ()) for name in ("sep", "mcp_apps", "mcp_ui")} == {
        "sep": [CHAT, HERE],
        "mcp_apps": [HERE],
        "mcp_ui": [CHAT],
    }


@pytest.mark.parametrize("opaque", [False, True])
def test_in_a_page_of_opaque_origin_self_allows_nobody_else(opaque: bool) -> None:
    allowed = OriginEntries((SELF,)).with_own("null").parse(opaque=opaque).common
    assert allowed is not None
    assert ("null" in allowed) is opaque
    assert HERE not in allowed


def test_before_the_page_is_anywhere_self_allows_nobody() -> None:
    allowed = OriginEntries((SELF,)).parse().common
    assert allowed is not None
    assert HERE not in allowed
    assert list(allowed) == [SELF]
    with pytest.raises(OriginError):
        parse_origin(SELF)
