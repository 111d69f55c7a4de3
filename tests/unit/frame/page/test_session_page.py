"""The page as authors see it, over a fake document: fragments, elements, listeners and what becomes of them."""

from __future__ import annotations

import asyncio
import gc
import weakref
from types import SimpleNamespace
from typing import Any

import anyio
import numpy as np
import pandas as pd
import pytest

from mcpframe.frame.core import visible as texts
from mcpframe.frame.core.errors import PageError
from mcpframe.frame.page.session_page import Assets, Element, Page, PageEvent
from mcpframe.frame.storage.values import Storage
from mcpframe.kit.plain_python.form_document import FileList
from tests.support.fake_page import FakeBrowser, FakeFile

HTML = b"""<h1 id="title">Title</h1><button id="go">Go</button><input id="file" type="file">
<img src="pictures/dot.png"><img src="../out.png"><a href="https://elsewhere.example/">x</a><a href="#top">y</a>
<a href="/absolute">z</a>"""
FILES = {"ui/page.html": HTML, "ui/pictures/dot.png": b"dot", "data.json": b"{}"}


class Rig:
    def __init__(self) -> None:
        self.browser = FakeBrowser(**{f"assets-1/{name}": data for name, data in FILES.items()})
        self.errors: list[tuple[str, str]] = []
        self.page = Page(
            self.browser,
            Assets("assets-1/", frozenset(FILES)),
            storage=Storage("s"),
            on_error=lambda title, detail: self.errors.append((title, detail)),
        )


@pytest.fixture
async def rig() -> Rig:
    rig = Rig()
    await rig.page.show("ui/page.html")
    return rig


async def settled() -> None:
    await anyio.wait_all_tasks_blocked()
    await anyio.lowlevel.checkpoint()  # and what is called back when a task ends


# Fragments and assets


async def test_objects_are_shown_as_tables_and_pictures(rig: Rig) -> None:
    page = rig.page
    await page.show(pd.DataFrame({"<a>": [1, None], "b": ["<script>", "x"]}), into="#title")
    assert [cell.text for cell in page.element("#title").elements("td")] == ["1.0", "<script>", "", "x"]
    assert page.element("#title").element("th").text == "<a>"
    await page.show(b"\x89PNG\r\n\x1a\n")
    assert str(page.element("img").get("src")).startswith("data:image/png;base64,")
    await page.show(np.arange(3))
    assert "[0 1 2]" in page.element("pre").text


async def test_what_cannot_be_shown_says_what_can(rig: Rig) -> None:
    for content in (object(), pd.DataFrame({"a": [1]}).groupby("a"), b"%PDF-"):
        with pytest.raises(PageError, match="DataFrame"):
            await rig.page.show(content)
    with pytest.raises(PageError, match="no element"):
        await rig.page.show("ui/page.html", into="#none")


async def test_a_fragment_replaces_what_was_there_and_finds_its_assets(rig: Rig) -> None:
    page = rig.page
    assert page.element("#mcpframe-app").element("#title").text == "Title"
    assert [image.get("src") for image in page.elements("img")] == ["assets-1/ui/pictures/dot.png", "../out.png"]
    assert [link.get("href") for link in page.elements("a")] == ["https://elsewhere.example/", "#top", "/absolute"]
    await page.show("./ui/../ui/page.html")
    assert len(page.elements("#title")) == 1


@pytest.mark.parametrize("path", ["absent.html", "../data.json", "/data.json", "", "https://elsewhere.example/x"])
async def test_what_is_no_asset_is_an_error_that_names_those_there_are(rig: Rig, path: str) -> None:
    for use in (rig.page.show, rig.page.import_module, rig.page.asset_bytes):
        with pytest.raises(PageError, match=r"not an asset of this page \(its assets: data.json, ui/page.html"):
            await use(path)


async def test_assets_have_urls_and_bytes(rig: Rig) -> None:
    assert rig.page.asset_url("data.json") == "assets-1/data.json"
    assert await rig.page.asset_bytes("data.json") == b"{}"
    rig.browser.files.clear()
    with pytest.raises(PageError, match=r"data.json of this page .*404"):
        await rig.page.asset_bytes("data.json")


async def test_an_element_that_is_not_there_is_named(rig: Rig) -> None:
    with pytest.raises(PageError, match="no element '#absent'"):
        rig.page.element("#absent")
    assert rig.page.elements("#absent") == []


# Elements


async def test_elements_are_read_and_written(rig: Rig) -> None:
    button = rig.page.element("#go")
    button.text = "<b>"
    assert (button.text, button.html) == ("<b>", "&lt;b&gt;")
    button.set("title", "x")
    button.set("aria-busy", True)
    assert (button.get("title"), button.get("aria-busy")) == ("x", "")
    button.set("title", None)
    button.set("aria-busy", False)
    assert (button.get("title"), button.get("aria-busy")) == (None, None)
    button.hidden = button.disabled = button.checked = True
    assert button.hidden
    assert button.disabled
    assert button.checked
    button.value = "v"
    assert button.value == "v"
    button.classes.add("on")
    button.classes.set("off", False)
    button.classes.set("shown", True)
    assert set(button.classes) == {"on", "shown"}
    assert "on" in button.classes
    button.classes.discard("on")
    assert len(button.classes) == 1
    button.focus()
    assert button.js.focused
    assert button == rig.page.element("#go")
    assert button != rig.page.element("#title")
    assert repr(button) == "<Element button #go>"


async def test_texts_pass_the_filter_of_their_page(rig: Rig) -> None:
    app = rig.page.element("#mcpframe-app")
    text = "exe.\u202egpj"
    assert app.add("p", text, title=text).text == text
    rig.page.text_filter = texts.visible
    made = app.add("p", text, title=text, aria_label=text, data_key=text)
    assert (made.text, made.get("title"), made.get("aria-label")) == (r"exe.\u202egpj",) * 3
    assert made.get("data-key") == text
    made.text = "\u2066"
    assert made.text == r"\u2066"
    made.value = text
    assert made.value == text  # what a form has is not changed


async def test_elements_are_made_of_texts_not_of_html(rig: Rig) -> None:
    app = rig.page.element("#mcpframe-app")
    app.clear()
    row = app.add("li", "<script>", class_="row", data_id="7", hidden=True, title=None)
    assert row.text == "<script>"
    assert row.js.attributes == {"class": "row", "data-id": "7", "hidden": ""}
    assert app.elements("script") == []
    app.unsafe_html = "<p id='p'>text</p>"
    assert app.element("#p").text == "text"
    assert app.unsafe_html == '<p id="p">text</p>'


# Listening


@pytest.mark.parametrize("how", ["stop", "remove", "clear", "text", "html", "show", "close"])
async def test_a_listener_ends_in_every_way_and_nothing_keeps_it(rig: Rig, how: str) -> None:
    class Handler:
        def __init__(self) -> None:
            self.heard = 0

        def __call__(self) -> None:
            self.heard += 1

    handler = Handler()
    button = rig.page.element("#go")
    app = rig.page.element("#mcpframe-app")
    stop = button.on("click", handler)
    rig.browser.happen("#go", "click")
    assert handler.heard == 1
    if how == "stop":
        stop()
    elif how == "remove":
        button.remove()
    elif how == "clear":
        app.clear()
    elif how == "text":
        app.text = ""
    elif how == "html":
        app.unsafe_html = ""
    elif how == "show":
        await rig.page.show("ui/page.html")
    else:
        rig.page.close()
    assert rig.browser.listeners == []
    stop()
    left = weakref.ref(handler)
    del handler, stop
    gc.collect()
    assert left() is None


async def test_handlers_get_the_event_where_they_want_it(rig: Rig) -> None:
    heard: list[Any] = []
    button = rig.page.element("#go")
    button.on("click", heard.append)
    button.on("click", lambda: heard.append("nothing"))
    button.on("click", lambda name="default": heard.append(name))

    async def later(event: PageEvent) -> None:
        heard.append(("later", event.kind))

    button.on("click", later)
    rig.browser.happen("#go", "click", key="Enter", detail={"a": 1})
    await settled()
    (event, nothing, default, last) = heard
    assert (event.kind, event.key, event.detail, event.files) == ("click", "Enter", {"a": 1}, [])
    assert event.target == button
    assert (nothing, default, last) == ("nothing", "default", ("later", "click"))


@pytest.mark.parametrize("raised", [LookupError, SystemExit, KeyboardInterrupt])
@pytest.mark.parametrize("asynchronous", [False, True])
async def test_what_a_handler_raises_is_told_and_the_next_event_is_heard(
    rig: Rig, asynchronous: bool, raised: type[BaseException]
) -> None:
    def fails() -> None:
        raise raised("no such thing")

    async def fails_later() -> None:
        fails()

    rig.page.element("#go").on("click", fails_later if asynchronous else fails)
    for count in (1, 2):
        rig.browser.happen("#go", "click")
        await settled()
        assert len(rig.errors) == count
    title, detail = rig.errors[0]
    assert title == f"The page's handler of 'click' raised {raised.__name__}: no such thing"
    assert "Traceback" in detail


@pytest.mark.parametrize(
    ("kind", "asked", "prevented"),
    [
        ("click", None, False),
        ("submit", None, True),
        ("dragover", None, True),
        ("click", True, True),
        ("drop", False, False),
    ],
)
async def test_what_the_browser_would_do_by_itself(rig: Rig, kind: str, asked: bool | None, prevented: bool) -> None:
    rig.page.element("#go").on(kind, lambda: None, prevent_default=asked)
    assert rig.browser.happen("#go", kind).prevented is prevented


async def test_a_running_handler_is_cancelled_at_the_end(rig: Rig) -> None:
    ended = []

    async def for_ever() -> None:
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            ended.append(True)

    rig.page.element("#go").on("click", for_ever)
    rig.browser.happen("#go", "click")
    await settled()
    rig.page.close()
    await settled()
    assert ended == [True]
    assert rig.errors == []


async def test_an_event_is_awaited_once(rig: Rig) -> None:
    waiting = asyncio.ensure_future(rig.page.element("#go").event("click"))
    await settled()
    rig.browser.happen("#go", "click")
    rig.browser.happen("#go", "click")
    assert (await waiting).kind == "click"
    assert rig.browser.listeners == []


async def test_an_awaited_event_of_an_element_that_goes_away_is_an_error(rig: Rig) -> None:
    waiting = asyncio.ensure_future(rig.page.element("#go").event("click"))
    await settled()
    rig.page.element("#go").remove()
    with pytest.raises(PageError, match="left the page"):
        await waiting
    assert rig.browser.listeners == []


async def test_the_window_is_listened_to_until_stopped_whatever_leaves_the_page(rig: Rig) -> None:
    window = SimpleNamespace()  # no element, and in no page
    rig.page.js.defaultView = window
    seen: list[str] = []
    stop = rig.page.on("resize", lambda event: seen.append(event.kind))
    rig.page.element("#go").remove()
    ((target, kind, callback),) = rig.browser.listeners
    callback(SimpleNamespace(type=kind, target=window))
    assert (target, seen) == (window, ["resize"])
    stop()
    assert rig.browser.listeners == []


async def test_nobody_listens_for_whoever_stopped_waiting(rig: Rig) -> None:
    waiting = asyncio.ensure_future(rig.page.element("#go").event("click"))
    await settled()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert rig.browser.listeners == []


async def test_files_are_waited_for_read_and_forgotten(rig: Rig) -> None:
    chooser = rig.page.element("#file")
    waiting = asyncio.ensure_future(chooser.files())
    await settled()
    chooser.js.files = FileList([FakeFile("a.txt", b"\xef\xbb\xbfhello", "text/plain")])
    rig.browser.happen("#file", "change")
    (file,) = await waiting
    assert (file.name, file.size, file.kind) == ("a.txt", 8, "text/plain")
    assert await file.read() == b"\xef\xbb\xbfhello"
    assert await file.text() == "hello"
    assert chooser.js.files.length == 0  # so that the next wait is for another choice


async def test_dropped_files_are_taken_while_the_event_lasts(rig: Rig) -> None:
    class Transfer:
        files: FileList = FileList([FakeFile("a", b"1"), FakeFile("b", b"2")])

    dropped: list[str] = []

    async def take(event: PageEvent) -> None:
        await anyio.lowlevel.checkpoint()
        dropped.extend(file.name for file in event.files)

    rig.page.element("#go").on("drop", take)
    transfer = Transfer()
    rig.browser.happen("#go", "drop", dataTransfer=transfer)
    transfer.files.clear()
    await settled()
    assert dropped == ["a", "b"]


@pytest.mark.parametrize(
    ("name", "instead"), [("style", "style sheet"), ("STYLE", "style sheet"), ("onclick", r"element\.on")]
)
async def test_an_attribute_that_the_policy_drops_is_an_error(rig: Rig, name: str, instead: str) -> None:
    button = rig.page.element("#go")
    with pytest.raises(PageError, match=instead):
        button.set(name, "color: red")
    with pytest.raises(PageError, match=instead):
        rig.page.element("#mcpframe-app").add("b", **{name: "color: red"})
    button.set(name, None)
    assert button.get(name) is None
    assert rig.page.elements("b") == []


# Being seen


async def test_visibility_is_told_now_and_at_every_change(rig: Rig) -> None:
    told: list[bool] = []

    async def watch() -> None:
        async for visible in rig.page.visibility():
            told.append(visible)  # noqa: PERF401  one by one, as it happens

    watching = asyncio.ensure_future(watch())
    for seen in (True, True, False):
        await settled()
        rig.browser.show(seen)
    await settled()
    assert told == [False, True, False]
    assert rig.page.visible is False
    assert len(rig.browser.watchers) == 1
    rig.page.close()
    await watching
    assert rig.browser.watchers == []


def late_rig() -> Rig:
    """A page that a person sees, whose files do not come yet."""
    rig = Rig()
    rig.browser.show(True)
    rig.browser.reachable.clear()
    return rig


async def test_a_page_is_not_visible_before_its_first_show_is_done() -> None:
    rig = late_rig()
    seen: list[bool] = []

    async def watch() -> None:
        async for visible in rig.page.visibility():
            seen.append(visible)  # noqa: PERF401  one by one, as it happens

    assert rig.page.visible, "nothing is to be shown"
    showing = asyncio.ensure_future(rig.page.show("ui/page.html"))
    await settled()
    watching = asyncio.ensure_future(watch())
    await settled()
    assert not rig.page.visible
    rig.browser.reachable.set()
    await showing
    assert rig.page.visible
    assert rig.page.element("#title").text == "Title"
    await settled()
    assert seen == [False, True]
    rig.browser.reachable.clear()
    showing = asyncio.ensure_future(rig.page.show("ui/page.html"))
    await settled()
    assert rig.page.visible, "what was shown before is there still"
    rig.browser.reachable.set()
    await showing
    rig.page.close()
    await watching


async def test_a_page_whose_first_show_has_failed_stays_invisible() -> None:
    rig = Rig()
    rig.browser.show(True)
    with pytest.raises(PageError), rig.page.drawing():
        await rig.page.show("absent.html")
    assert not rig.page.visible
    await rig.page.show("ui/page.html")
    assert rig.page.visible


@pytest.mark.parametrize("then", ["show", "asks", "ends", "raises"])
async def test_other_code_sees_the_page_once_the_ui_function_has_drawn_it(then: str) -> None:
    rig = late_rig()
    other = Page(rig.browser, storage=Storage("other"))  # of another session in the same document
    drawn, over = asyncio.Event(), asyncio.Event()

    async def ui() -> None:
        with rig.page.drawing():
            await drawn.wait()
            if then == "show":
                await rig.page.show("ui/page.html")
            elif then == "asks":
                assert await asyncio.ensure_future(anext(rig.page.visibility()))
            elif then == "raises":
                raise KeyError
            if then in ("show", "asks"):
                await over.wait()

    drawing = asyncio.ensure_future(ui())
    await settled()
    assert (rig.page.visible, other.visible) == (False, False)
    drawn.set()
    await settled()
    assert (rig.page.visible, other.visible) == ((False, False) if then == "show" else (True, True))
    rig.browser.reachable.set()
    await settled()
    assert (rig.page.visible, other.visible) == (True, True)
    over.set()
    await asyncio.wait([drawing])
    assert (drawing.exception() is None) == (then != "raises")


async def test_downloads_are_bytes(rig: Rig) -> None:
    rig.page.download("a.txt", "ü", "text/plain")
    rig.page.download("b", b"\x00")
    assert rig.browser.downloads == [("a.txt", b"\xc3\xbc", "text/plain"), ("b", b"\x00", "application/octet-stream")]


# Without a page


async def test_outside_a_browser_there_is_one_clear_error() -> None:
    page = Page(None, storage=Storage("s"))
    for use in (lambda: page.element("#x"), lambda: page.elements("x"), lambda: page.js, lambda: page.asset_url("x")):
        with pytest.raises(PageError, match="There is no page outside a browser"):
            use()
    with pytest.raises(PageError, match="There is no page outside a browser"):
        await page.show("x.html")
    assert page.visible is False
    assert [visible async for visible in page.visibility()] == [False]
    page.close()


async def test_after_the_session_nothing_listens_any_more(rig: Rig) -> None:
    button = rig.page.element("#go")
    rig.page.close()
    with pytest.raises(PageError, match="over"):
        button.on("click", lambda: None)
    assert [visible async for visible in rig.page.visibility()] == []


def test_the_browsers_null_is_nothing() -> None:
    class Null:
        """As Pyodide gives it: falsy, but not None."""

        def __bool__(self) -> bool:
            return False

    class Js:
        def getAttribute(self, name: str) -> Null:  # noqa: N802
            return Null()

        def querySelector(self, selector: str) -> Null:  # noqa: N802
            return Null()

    element = Element(Js(), Rig().page)
    assert element.get("title") is None
    with pytest.raises(PageError, match="no element"):
        element.element("#nowhere")
