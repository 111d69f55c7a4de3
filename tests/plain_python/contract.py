"""The contract of a server in a page and in plain Python: one suite of calls, and what each has to give in both.

The table of docs/how-to/outgrow-the-browser.md is made from the clauses that differ.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any

from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import TextResourceContents

from tests.support.takes_tasks import TaskClient, asks, cancelled, completed

FAILS = "fails"
"""Stands for an error result, whatever its text."""


@dataclass(frozen=True)
class Clause:
    """A tool of `both_ways/server.py`, and its results.

    Attributes:
        tool: Its name.
        results: The results of two calls of a first client, and of one of a second.
        plain: The same in plain Python; None if they are not different.
        what: What is different, for people.
        in_a_page: How it is in a page.
        in_plain_python: How it is in plain Python.
        then: A tool that takes the handle of what the first one keeps; the result is what both have of it.
    """

    tool: str
    results: Sequence[Any]
    plain: Sequence[Any] | None = None
    what: str = ""
    in_a_page: str = ""
    in_plain_python: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    then: str = ""


def always(result: Any) -> list[Any]:
    return [result] * 3


LARGE = 2**60 + 1

CLAUSES = [
    Clause("keeps", [1, 2, 3]),
    Clause("binary", always(True)),
    Clause("persistent", always(True)),
    Clause("asks", always(7)),
    Clause("raises", always("Error executing tool raises: nothing there")),
    Clause("infinite", always(FAILS)),
    Clause("echo", always(5), arguments={"number": 5}),
    Clause("rows", always([[2500, 2], 3123750, 2500, "is unknown"]), then="total"),
    Clause(
        "session",
        always(["of the host", "transport", "an origin"]),
        always(["local", "local", ""]),
        "`session.id`, `session.origin` and `session.phase`",
        "of the host: its id for the session, its origin, `transport`",
        "the user's name, or `local` without tokens; no origin; `local`",
    ),
    Clause(
        "module_global",
        [1, 2, 1],
        [1, 2, 3],
        "globals of the module",
        "of one session: each has a page of its own",
        "of one process: all users share them",
    ),
    Clause(
        "draws",
        always("drawn"),
        always(FAILS),
        "`session.page`, `server.ui`, `session.host`",
        "the page, and the host around it",
        "none: `page.visible` is false, and drawing raises `PageError`; a setup's form is a question",
    ),
    Clause(
        "echo",
        always(1152921504606847000),
        always(LARGE),
        "integers beyond ±2⁵³",
        "lose digits on their way through JavaScript",
        "are exact",
        {"number": LARGE},
    ),
    Clause(
        "in_emscripten",
        always(True),
        always(False),
        "`sys.platform`",
        "`emscripten`",
        "that of the machine",
    ),
    Clause(
        "starts_a_program",
        always(FAILS),
        always("ran"),
        "`subprocess`, `os.fork`, `multiprocessing`",
        "fail",
        "work",
    ),
    Clause(
        "connects",
        always(FAILS),
        always("connected"),
        "sockets, drivers of databases",
        "fail; HTTP goes through the browser, where CORS and the page's policy allow it",
        "work, with no policy but the machine's",
    ),
]

OF_MCP1 = [
    Clause("count", [1, 2, 1]),
    Clause("ask", always("7")),
]
"""The clauses of `of_mcp1/server.py`, which has a process for each session where it has no page."""

TASKS = ["working", "input_required", {"result": 7}, "cancelled", "no such task"]
"""What `tasks_of` returns, in a page and in plain Python."""

Connect = Callable[[], AbstractAsyncContextManager[Client]]


async def seen(client: Client, clause: Clause) -> Any:
    """Return the result of a clause's tool; the text of an error for `raises`, else `FAILS`."""
    result = await client.call_tool(clause.tool, dict(clause.arguments))
    if result.is_error:
        return getattr(result.content[0], "text", "") if clause.tool == "raises" else FAILS
    assert result.structured_content is not None
    if clause.then:
        return await chained(client, clause, result.structured_content)
    return result.structured_content["result"]


async def chained(client: Client, clause: Clause, data: Mapping[str, Any]) -> list[Any]:
    """Return the shape of kept rows, what another tool makes of them, how many are read, and a lost handle's error."""
    uri, rows = data["uri"], 0
    while uri:
        [page] = (await client.read_resource(uri)).contents
        assert isinstance(page, TextResourceContents)
        found = json.loads(page.text)
        rows, uri = rows + len(found["rows"]), found["next"]
    made = await client.call_tool(clause.then, {"rows": data["handle"]})
    lost = await client.call_tool(clause.then, {"rows": "k0"})
    assert made.structured_content
    assert lost.is_error
    words = "is unknown" if "is unknown" in getattr(lost.content[0], "text", "") else FAILS
    return [data["shape"], made.structured_content["result"], rows, words]


async def results(connect: Connect, clauses: Sequence[Clause] = CLAUSES) -> list[list[Any]]:
    """Return the results of all clauses, with two clients, one after the other."""
    found: list[list[Any]] = [[] for _ in clauses]
    for times in (2, 1):
        async with connect() as client:
            for clause, each in zip(clauses, found, strict=True):
                each += [await seen(client, clause) for _ in range(times)]
    return found


async def tasks_of(client: Client) -> list[Any]:
    """Return what becomes of calls as tasks: of one that asks, of one that is cancelled, and of one that is none."""
    tasks = TaskClient(client)
    asking, waiting = await tasks.begin("asks_as_a_task"), await tasks.begin("waits")
    asked = await tasks.until(asking["taskId"], asks)
    answer = {key: {"action": "accept", "content": {"age": 7}} for key in asked["inputRequests"]}
    await tasks.ask("tasks/update", asking["taskId"], inputResponses=answer)
    done = await tasks.until(asking["taskId"], completed)
    await tasks.ask("tasks/cancel", waiting["taskId"])
    ended = await tasks.until(waiting["taskId"], cancelled)
    try:
        await tasks.ask("tasks/get", "none")
    except MCPError as error:
        unknown = "no such task" if "no such task" in str(error) else FAILS
    else:
        unknown = ""
    return [
        asking["status"],
        asked["status"],
        done["result"]["structuredContent"],
        ended["status"],
        unknown,
    ]
