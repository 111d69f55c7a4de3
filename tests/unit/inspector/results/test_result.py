"""The display of a stranger's content: the parts that need no browser."""

from __future__ import annotations

import base64
import json
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.results.media import data_url, decoded, file_name, media_type, shown_as, size_text, web_address
from inspector.results.result import is_table, raised_in, show_result
from inspector.results.tree import STEP, json_tree, preview
from mcpframe.frame.core.visible import visible
from mcpframe.frame.page.session_page import Page
from mcpframe.frame.storage.values import Storage
from tests.support.fake_page import FakeBrowser, FakeElement
from tests.unit.inspector.forms.schemas import JSON

ALLOWED = {"div", "p", "pre", "span", "code", "a", "img", "audio", "button", "details", "summary"}
ALLOWED |= {"table", "thead", "tbody", "tr", "th", "td"}


@pytest.mark.parametrize(
    ("kind", "shown"),
    [
        ("image/png", "image"),
        ("IMAGE/PNG; charset=x", "image"),
        ("image/svg+xml", "image"),  # in <img>, where its scripts don't run
        ("audio/wav", "audio"),
        ("image/x-unheard-of", ""),
        ("text/html", ""),
        ("application/xhtml+xml", ""),
        ('image/png" onload="x', ""),
        ("image/png,<script>", ""),
        ("", ""),
        (None, ""),
        (["image/png"], ""),
    ],
)
def test_media_types(kind: Any, shown: str) -> None:
    assert shown_as(kind) == shown
    if shown:
        assert data_url(kind, b"hi") == f"data:{media_type(kind)};base64,aGk="
    else:
        with pytest.raises(ValueError, match="is not shown"):
            data_url(kind, b"hi")


@pytest.mark.parametrize(
    ("uri", "address"),
    [
        ("https://example.org/x?y#z", "https://example.org/x?y#z"),
        ("HTTP://example.org", "http://example.org"),
        ("mailto:ada@example.org", None),
        ("javascript:alert(1)", None),
        ("JaVaScRiPt:alert(1)", None),
        (" javascript:alert(1)", None),
        ("java\nscript:alert(1)", None),
        ("\x01javascript:alert(1)", None),
        ("https://example.org/\n", None),
        ("data:text/html,x", None),
        ("vbscript:x", None),
        ("file:///etc/passwd", None),
        ("blob:https://example.org/1", None),
        ("//example.org", None),
        ("http:", None),
        ("http://[", None),
        ("http:\\\\example.org", None),
        ("note://1", None),
        ("", None),
        (None, None),
        (3, None),
    ],
)
def test_addresses_that_a_person_may_be_led_to(uri: Any, address: str | None) -> None:
    assert web_address(uri) == address


@pytest.mark.parametrize(
    ("uri", "kind", "name"),
    [
        ("file:///a/b.bin", "x/y", "b.bin"),
        ("https://example.org/a%20b.txt?q", None, "a b.txt"),
        ("note://host/..%2f..%2fetc%2fpasswd", None, "passwd"),
        ("note://x/a%5C..%5Cb.exe", None, "a_.._b.exe"),
        ("note://x/photo\u202egpj.exe", None, "photo_gpj.exe"),
        ("note://x/.htaccess", None, "htaccess"),
        ("note://x/", "image/svg+xml", "image.svg"),
        (None, "image/jpeg", "image.jpg"),
        (None, "audio/mpeg", "audio.mp3"),
        (None, "text/../../x", "text.x"),
        (None, None, "content.bin"),
        (7, 7, "content.bin"),
        ("http://[", "a/b", "content.b"),
    ],
)
def test_names_of_files(uri: Any, kind: Any, name: str) -> None:
    assert file_name(uri, kind) == name


@given(st.text(), st.text())
def test_no_name_leads_out_of_a_folder(uri: str, kind: str) -> None:
    name = file_name("note://x/" + uri, kind)
    assert name
    assert not set(name) & set('/\\:\0\n"<>|*?')
    assert not name.startswith(".")


@given(st.binary())
def test_base64(data: bytes) -> None:
    for text in (base64.b64encode(data), base64.urlsafe_b64encode(data), base64.encodebytes(data)):
        assert decoded(text.decode()) == data


@pytest.mark.parametrize("data", ["%", "ä", "a", None, 3, ["aGk="]])
def test_what_is_not_base64(data: Any) -> None:
    assert decoded(data) is None


def test_sizes_and_previews() -> None:
    assert [size_text(count) for count in (1, 999, 1500, 2_345_678)] == ["1 byte", "999 bytes", "1.5 kB", "2.3 MB"]
    assert preview([]) == "[0 items]"
    assert preview({"a": 1, "b": 2}) == "{a, b}"
    assert preview(dict.fromkeys("abcdefgh")) == "{a, b, c, d, e, …}"
    assert len(preview({"k" * 5000: 1})) < 100


def shown(value: Any) -> tuple[FakeElement, FakeBrowser]:
    browser = FakeBrowser()
    page = Page(browser, storage=cast(Storage, None))
    page.text_filter = visible  # as `main.py` does
    place = page.element("#mcpframe-app")
    show_result(page, place, value)
    return place.js, browser


def every(element: FakeElement) -> list[FakeElement]:
    parts = [node for node in element.nodes if isinstance(node, FakeElement)]
    return [*parts, *(inner for part in parts for inner in every(part))]


_BLOCK = st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "image", "audio", "resource", "resource_link", "x"])},
    optional={
        "text": JSON,
        "data": st.sampled_from(["aGk=", "%"]) | JSON,
        "mimeType": st.sampled_from(["image/png", "audio/wav", "text/html"]) | JSON,
        "resource": st.dictionaries(st.sampled_from(["uri", "text", "blob", "mimeType"]), st.just("aGk=") | JSON)
        | JSON,
        "uri": st.sampled_from(["javascript:x", "https://example.org"]) | JSON,
        "name": JSON,
        "description": JSON,
        "annotations": JSON,
        "_meta": JSON,
    },
)
_BLOCKS = st.lists(_BLOCK | JSON, max_size=3)


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "content": _BLOCKS | JSON,
            "contents": _BLOCKS | JSON,
            "messages": st.lists(st.fixed_dictionaries({"role": JSON, "content": _BLOCK | _BLOCKS | JSON}), max_size=2),
            "structuredContent": JSON,
            "isError": JSON,
            "description": JSON,
            "other": JSON,
        },
    )
    | JSON
)
def test_any_result_becomes_harmless_elements(value: Any) -> None:
    place, _ = shown(value)
    assert visible(place.textContent) == place.textContent
    for element in every(place):
        assert element.tagName.lower() in ALLOWED
        assert not any(name.startswith("on") for name in element.attributes)
        assert element.attributes.get("href", "https://").startswith(("https://", "http://"))
        assert element.attributes.get("src", "data:image/png;base64,").startswith(("data:image/", "data:audio/"))


def test_a_large_value_is_made_as_far_as_it_is_opened() -> None:
    browser = FakeBrowser()
    page = Page(browser, storage=cast(Storage, None))
    box = json_tree(page, page.element("#mcpframe-app"), [{"deep": [1] * 1000}] * 100_000)
    assert len(every(box.js)) < 20
    browser.happen("details", "toggle")
    assert STEP < len(every(box.js)) < 10 * STEP
    assert len(box.elements("details")) == 1 + STEP


def cells(place: FakeElement) -> list[list[str]]:
    return [
        [cell.textContent for cell in every(row) if cell.tagName in ("TH", "TD")]
        for row in place.querySelectorAll("tr")
    ]


def text_of(value: Any) -> dict[str, Any]:
    return {"type": "text", "text": json.dumps(value)}


MODELS = [{"name": "a", "price": 1.5, "tags": ["x"]}, {"name": "b\u202e", "sold": None, "price": 2}]
SHOWN = [["name", "price", "tags", "sold"], ["a", "1.5", '["x"]', ""], [r"b\u202e", "2", "", "null"]]


@pytest.mark.parametrize(
    ("result", "folded"),
    [
        ({"content": [*map(text_of, MODELS)], "structuredContent": {"result": MODELS}}, "As text (2 parts)"),
        ({"content": [text_of(MODELS)], "structuredContent": {"result": MODELS}}, "As text (1 part)"),
        ({"content": [text_of({"items": MODELS})], "structuredContent": {"items": MODELS}}, "As text (1 part)"),
        ({"content": [*map(text_of, MODELS)]}, "As text (2 parts)"),
        ({"content": [text_of(MODELS)]}, "As text (1 part)"),
        ({"content": [{"type": "text", "text": "Found."}], "structuredContent": {"items": MODELS}}, "Found."),
    ],
)
def test_rows_of_objects_are_a_table(result: Any, folded: str) -> None:
    place, _ = shown(result)
    assert cells(place) == SHOWN
    assert folded in place.textContent
    assert (len(place.querySelectorAll("pre")) == 0) == folded.startswith("As text")


@pytest.mark.parametrize(
    "value",
    [[], [1, {"a": 1}], [{}], [{str(at): at for at in range(100)}], {"a": {"b": MODELS}}, "text", None, 7],
)
def test_what_is_no_table(value: Any) -> None:
    place, _ = shown({"content": [text_of(value)], "structuredContent": {"result": value}})
    assert place.querySelectorAll("table") == []
    assert len(place.querySelectorAll("pre")) == 1


def test_a_long_table_is_shown_by_and_by() -> None:
    place, browser = shown({"content": [], "structuredContent": [{"n": at} for at in range(250)]})
    for count in (100, 200):
        assert len(cells(place)) == 1 + count
        browser.happen("button", "click")
    assert len(cells(place)) == 1 + 250


def test_many_parts_are_shown_by_and_by() -> None:
    place, _ = shown({"content": [{"type": "text", "text": "x"}] * 1000})
    assert len(place.querySelectorAll("pre")) == 100
    assert "Show more (900 left)" in place.textContent


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("region | sum\n-------+----\nnorth  |   3", True),
        ("Found:\n| a | b |\n|---|---|\n| 1 | 2 |", True),
        ("┌───┐\n│ a │\n│ b │\n└───┘", True),
        ("a\tb\n1\t2", True),
        ("", False),
        ("a | b", False),
        ("One | two\nand no more.", False),
        ("A long line of words.\nAnother one.", False),
    ],
)
def test_what_is_a_table(text: str, expected: bool) -> None:
    assert is_table(text) is expected


@pytest.mark.parametrize(
    ("raised", "text"),
    [
        ({"type": "KeyError", "file": "server.py", "line": 4}, "Raised: KeyError in server.py, line 4."),
        ({"type": "KeyError", "line": []}, "Raised: KeyError."),
        ({"type": []}, ""),
        ("KeyError", ""),
    ],
)
def test_an_error_names_its_place(raised: Any, text: str) -> None:
    place, _ = shown({"content": [], "isError": True, "_meta": {"mcpframe/raised": raised}})
    texts = [element.textContent for element in every(place) if str(element.textContent).startswith("Raised")]
    assert texts == ([text] if text else [])


def test_a_terminal_shows_the_error_of_a_tool_and_the_place_of_its_exception() -> None:
    result = {
        "content": [{"type": "text", "text": "Error executing tool add: no"}],
        "isError": True,
        "_meta": {"mcpframe/raised": {"type": "ValueError", "file": "server.py", "line": 7}},
    }
    told = "error: Error executing tool add: no\nRaised: ValueError in server.py, line 7."
    answer = {"jsonrpc": "2.0", "id": 1, "result": result}
    assert raised_in(json.dumps({"type": "MCP_MESSAGE", "payload": answer})) == told
    assert raised_in(json.dumps(answer)) == told
    for odd in ('"mcpframe/raised"', '{"mcpframe/raised": 1}', "[", json.dumps({"payload": ["mcpframe/raised"]})):
        assert raised_in(odd) == ""
