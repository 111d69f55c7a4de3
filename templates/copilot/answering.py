"""Answers questions by tool calls, and reports their errors in words."""

from dataclasses import dataclass
from typing import Any

from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import REQUEST_TIMEOUT, CallToolResult, TextContent

from rules import Call, name_offered, plan
from wording import lines

PATIENCE = 20.0
"""How long the host page may take for one answer, in seconds."""


@dataclass(frozen=True)
class Answer:
    """The answer to a question.

    Attributes:
        lines: a sentence, followed by the items of a list.
        call: the tool that was called, by its name on the server, and its arguments.
        problem: whether something went wrong.
    """

    lines: list[str]
    call: tuple[str, dict[str, Any]] | None = None
    problem: bool = False


async def answer(client: Client, offered: set[str], question: str) -> Answer:
    """Answer a question.

    Args:
        client: the client, connected.
        offered: the names of the server's tools.
        question: the question.

    Raises:
        MCPError: The host page does not answer, or the session is over.
    """
    planned = plan(question)
    if not isinstance(planned, Call):
        return Answer([planned])
    name = name_offered(planned.tool, offered)
    if name is None:
        return Answer([f"The page around me does not offer {planned.tool}, so that I cannot tell."], problem=True)
    call = (name, planned.arguments)
    result = await client.call_tool(name, planned.arguments)
    text = _text(result)
    if result.is_error:
        return Answer([text or "The tool failed, and did not say why."], call, problem=True)
    return Answer(lines(planned.tool, result.structured_content, text), call)


def _text(result: CallToolResult) -> str:
    return "\n".join(block.text for block in result.content if isinstance(block, TextContent))


async def tools_of(client: Client) -> set[str]:
    """Return the names of all the server's tools. Raises MCPError."""
    page = await client.list_tools()
    names = {tool.name for tool in page.tools}
    while page.next_cursor:
        page = await client.list_tools(cursor=page.next_cursor)
        names |= {tool.name for tool in page.tools}
    return names


def reason_of(error: Exception) -> str:
    """Return a message for people about why the host page gave no answer."""
    while isinstance(error, ExceptionGroup):  # an error while the client starts is wrapped by its task groups
        error = error.exceptions[0]
    if isinstance(error, MCPError) and error.code == REQUEST_TIMEOUT:
        return f"The page around me did not answer within {PATIENCE:.0f} seconds. Connect again, or reload it."
    return f"The page around me gave no answer: {error}"
