"""A setup's form is a question to the client's user, once for each user."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError

from mcpframe.frame.core.errors import SetupFailed
from mcpframe.kit.plain_python.form_page import FormBrowser, answered
from tests.plain_python.programs import ERAS, ROOT, connected, served, value

NOTES = str(ROOT / "docs" / "examples" / "notes")
FORM = """
<h1>Choose</h1><p>What <b>you</b> like.</p><p hidden>not seen</p>
<form><label for="name">Name</label><input id="name" value="Ada" required>
<label><input type="checkbox" name="tick" checked> Tick</label>
<select id="color"><option>red<option value="g" selected>green</select><input type="number" id="many" value="3">
<input type="email" id="mail" disabled><input type="file" id="file"><button id="cancel">No</button>
<button value="ok">Go</button></form><button id="more" type="button">Show more</button>
"""


async def test_the_notes_are_set_up_by_a_question(tmp_path: Path) -> None:
    asked: list[Any] = []

    async def answer(_: Any, params: types.ElicitRequestFormParams) -> types.ElicitResult:
        asked.append((params.message, params.requested_schema["properties"]))
        if len(asked) == 1:
            return types.ElicitResult(action="decline")
        return types.ElicitResult(action="accept", content={"name": "Trip"})

    with served(NOTES, "--storage", str(tmp_path)) as address:
        for era in ERAS:
            async with connected(address, era, elicitation_callback=answer) as client:
                assert len((await client.list_tools()).tools) == 2
                if era == ERAS[0]:
                    with pytest.raises(MCPError, match=r"not set up: The setup was cancelled"):
                        await value(client, "list_notes")
                assert await value(client, "add_note", text="pack") == ("1 notes." if era == ERAS[0] else "2 notes.")
    name = {"name": {"type": "string", "title": "Name of the notebook"}}
    assert [properties for _, properties in asked] == [name, name]
    files = [path.read_bytes().split(b"\n", 1) for path in tmp_path.glob("notes/*/*.value")]  # noqa: ASYNC240
    assert [b'["name", "json"]', b'"Trip"'] in files


def test_a_form_is_a_question_and_the_answer_its_events() -> None:
    browser = FormBrowser(Path())
    root = browser.document.documentElement
    root.innerHTML = FORM
    heard: list[Any] = []
    form, color = root.querySelector("form"), root.querySelector("form #color")
    assert form
    assert color
    assert browser.buttons() == {}
    browser.listen(form, "submit", lambda event: heard.append(event.submitter.value))
    browser.listen(color, "change", lambda event: heard.append(event.target.value))
    text, schema = browser.question()
    assert text == "Choose\nWhat you like."
    assert schema == {
        "type": "object",
        "properties": {
            "name": {"title": "Name", "type": "string", "default": "Ada"},
            "tick": {"title": "Tick", "type": "boolean", "default": True},
            "color": {"title": "color", "type": "string", "enum": ["red", "g"], "default": "g"},
            "many": {"title": "many", "type": "number", "default": 3.0},
        },
        "required": ["name"],
    }
    browser.answer({"color": "red", "tick": False})
    assert heard == ["red", "ok"]
    assert not root.querySelectorAll("[name=tick]")[0].checked
    more = root.querySelector("#more")
    assert more
    stop = browser.listen(more, "click", lambda _: heard.append("more"))
    assert browser.question()[1]["properties"]["press"]["enum"] == ["Go", "Show more"]
    browser.answer({"press": "Show more"})
    stop()
    assert heard == ["red", "ok", "more"]
    root.innerHTML = '<input type="password">'
    with pytest.raises(SetupFailed, match="environment variable"):
        browser.question()


@pytest.mark.parametrize("answer", [{"color": "mauve"}, {"many": "1; DROP"}, {"tick": "yes"}, {"name": {"a": 1}}])
async def test_an_answer_that_is_none_of_the_form_ends_the_setup(answer: dict[str, Any]) -> None:
    browser = FormBrowser(Path())
    browser.document.documentElement.innerHTML = FORM
    [form] = browser.document.documentElement.querySelectorAll("form")
    heard: list[Any] = []
    browser.listen(form, "submit", heard.append)

    async def ask(*_: object) -> dict[str, Any]:
        return answer

    setup = asyncio.create_task(asyncio.Event().wait())
    with pytest.raises(SetupFailed, match="not one of its form"):
        await answered(setup, browser, ask)
    setup.cancel()
    assert heard == []
