"""`input()` in a handler: the client's user is asked, by elicitation, while the event loop runs.

It needs a browser with stack switching, and a client with the capability elicitation. Elsewhere it reads standard
input, which raises an error with advice.
"""

from __future__ import annotations

import asyncio
import builtins
import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from typing import Any

log = logging.getLogger(__name__)

Elicit = Callable[[str, Mapping[str, Any]], Awaitable[Any]]
"""Sends the client a question and the schema of its answer, and returns the SDK's `ElicitResult`."""

_SCHEMA = {
    "type": "object",
    "properties": {"answer": {"type": "string", "title": "Answer"}},
    "required": ["answer"],
}
_LOOK_SECONDS = 0.2
"""How often it is looked whether the call was cancelled: its task is suspended, and does not see that by itself."""

_elicit: ContextVar[Elicit | None] = ContextVar("mcpframe_elicit", default=None)
_read_input = builtins.input


@contextmanager
def asking_by(elicit: Elicit) -> Iterator[None]:
    """Let `input()` in the block ask in this way."""
    token = _elicit.set(elicit)
    try:
        yield
    finally:
        _elicit.reset(token)


def can_be_asked(types: Any, session: Any) -> bool:
    """Return whether a client has said that its user can be asked; others might never answer.

    Args:
        types: the SDK's module of types.
        session: the session with the client.
    """
    needed = types.ClientCapabilities(elicitation=types.ElicitationCapability())
    return bool(session.check_client_capability(needed))


def check_can_ask(types: Any, session: Any) -> None:
    """Raise `LookupError` unless a client can be asked; see `can_be_asked`."""
    if not can_be_asked(types, session):
        raise LookupError("it has not declared the capability elicitation")


def replace() -> None:
    """Replace `input`. Call it in Pyodide, before the author's code."""
    builtins.input = _input


def _input(prompt: object = "", /) -> str:
    stack: Any = import_module("mcpframe.frame.browser.stack")
    if not stack.can_wait() or (question := asking(str(prompt))) is None:
        return _read_input(prompt)
    answer: str | None = stack.wait_for(question)
    return _read_input(prompt) if answer is None else answer


def asking(prompt: str) -> Coroutine[Any, Any, str | None] | None:
    """Return the coroutine `answer_to` for the handler that runs now; None outside of one."""
    elicit, task = _elicit.get(), asyncio.current_task()
    return answer_to(prompt, elicit, task) if elicit and task else None


async def answer_to(prompt: str, elicit: Elicit, task: asyncio.Task[Any]) -> str | None:
    """Return the user's answer; None if the client cannot ask.

    Args:
        prompt: the question.
        elicit: see `Elicit`.
        task: the task of the call that waits for it.

    Raises:
        EOFError: the user does not answer, or the call was cancelled.
    """
    asked = asyncio.ensure_future(elicit(prompt.strip() or "The server waits for an input.", _SCHEMA))
    try:
        while not asked.done() and not task.cancelling():
            await asyncio.wait([asked], timeout=_LOOK_SECONDS)
        if not asked.done():
            raise EOFError("The call was cancelled.")
    finally:
        asked.cancel()
    if error := asked.exception():
        log.info("input() cannot ask the client's user: %s", error)
        return None
    result = asked.result()
    if result.action != "accept":
        raise EOFError("The user has not answered.")
    return str((result.content or {}).get("answer", ""))
