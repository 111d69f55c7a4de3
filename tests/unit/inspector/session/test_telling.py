"""Errors as a person reads them, and the small pure parts of the panels."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError

from inspector.panels.listing import MOST_PAGES, all_pages
from inspector.panels.prompts import schema_of
from inspector.session.telling import PlainEnd, not_reached, sentence
from mcpframe.frame.core.errors import HandshakeTimeout, PeerGone


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (PeerGone("The page was reloaded."), "The page was reloaded."),
        (PlainEnd("The setup was cancelled."), "The setup was cancelled."),
        (MCPError(code=-32602, message="No such tool"), "Error -32602: No such tool"),
        (MCPError(code=-32000, message="No", data={"why": "not"}), 'Error -32000: No {"why": "not"}'),
        (ValueError("odd"), "ValueError: odd"),
        (ValueError(), "ValueError"),
        (ExceptionGroup("several", [ExceptionGroup("inside", [PeerGone("Gone."), ValueError()])]), "Gone."),
    ],
)
def test_one_sentence(error: BaseException, told: str) -> None:
    assert sentence(error) == told


def test_an_answer_that_is_none_is_named() -> None:
    with pytest.raises(ValueError, match="name") as raised:
        types.Tool.model_validate({"inputSchema": {}})
    assert sentence(raised.value) == "The answer is not what MCP has for it: name: Field required."


def test_a_page_that_does_not_answer_is_asked_about() -> None:
    told = not_reached(HandshakeTimeout("Nobody answered."), "http://127.0.0.1:8710", "Plain MCP")
    assert told.startswith("Nobody answered. Is it a page that serves MCP")
    assert "does it speak the dialect Plain MCP, and does it allow http://127.0.0.1:8710?" in told
    assert not_reached(PeerGone("Gone."), "http://127.0.0.1:8710", "Plain MCP") == "Gone."


@dataclass
class Answer:
    things: list[int]
    next_cursor: str | None = None


@dataclass
class Lists:
    last: int
    asked: list[Any] = field(default_factory=list)

    async def page(self, *, cursor: str | None) -> Answer:
        self.asked.append(cursor)
        number = int(cursor or 0)
        return Answer([number], None if number == self.last else str(number + 1))


async def test_all_pages_of_a_list() -> None:
    lists = Lists(2)
    assert await all_pages(lists.page, "things") == [0, 1, 2]
    assert lists.asked == [None, "1", "2"]


async def test_a_list_without_end() -> None:
    assert len(await all_pages(Lists(-1).page, "things")) == MOST_PAGES


def test_the_form_of_a_prompt() -> None:
    arguments = [{"name": "city", "description": "Where to", "required": True}, {"name": "days", "title": "Days"}]
    assert schema_of(arguments) == {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "Where to"},
            "days": {"type": "string", "title": "Days"},
        },
        "required": ["city"],
    }
