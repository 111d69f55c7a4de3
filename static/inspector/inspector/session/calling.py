"""A request with a form: its button, its progress, its cancellation, and its result."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

import anyio
import mcp_types as types
from mcp.shared.dispatcher import ProgressFnT
from mcp.shared.exceptions import MCPError

from inspector.forms.form import Form, FormProblem
from inspector.results.result import show_result
from inspector.session.connection import Connection
from inspector.session.telling import sentence
from mcpframe import Element, Page

Ask = Callable[[Any, ProgressFnT], Awaitable[dict[str, Any]]]
Read = Callable[[str], Awaitable[dict[str, Any]]]


class Calling:
    """A form with a button that sends the request.

    Attributes:
        form: the form; None without arguments.
        result: the element for the result.
        remark: a sentence about the result, which whoever asks may set.
    """

    def __init__(
        self,
        page: Page,
        place: Element,
        schema: dict[str, Any] | None,
        verb: str,
        ask: Ask,
        *,
        label: str,
        read: Read | None,
    ) -> None:
        """Build the form.

        Args:
            schema: the schema of the arguments; None if there are none.
            verb: the label of the button.
            ask: sends the request, and returns its result on the wire.
            label: the accessible name of the form.
            read: reads a linked resource of a result.
        """
        self._page = page
        self._ask = ask
        self._read = read
        self.remark = ""
        self._busy = False
        self._scope: anyio.CancelScope | None = None
        outside = place.add("form", class_="insp-call", novalidate=True, aria_label=label)
        self.form = None if schema is None else Form(page, outside.add("div"), schema, label=label)
        row = outside.add("div", class_="insp-row")
        self._button = row.add("button", verb, type="submit", class_="main")
        self._cancel = row.add("button", "Cancel", type="button", hidden=True)
        self._status = row.add("span", role="status", class_="quiet")
        self._bar = place.add("progress", aria_label="Progress", hidden=True)
        self._problem = place.add("p", role="alert", class_="insp-problem", hidden=True)
        self.result = place.add("div", role="region", aria_label="Result", class_="insp-result")
        outside.on("submit", self._run)
        self._cancel.on("click", self._stop)

    async def _run(self) -> None:
        if self._busy:
            return
        self._busy = True
        try:
            await self._send()
        finally:
            self._busy = False

    async def _send(self) -> None:
        try:
            value = await self.form.checked() if self.form else None
        except FormProblem:
            return  # the form shows the problems, and moves the focus there
        self._begin()
        start = time.monotonic()
        told = "Cancelled."
        try:
            with anyio.CancelScope() as self._scope:
                result = await self._ask(value, self._on_progress)
                told = f"Answered in {duration(time.monotonic() - start)}."
                show_result(self._page, self.result, result, read=self._read)
                if self.remark:
                    self.result.add("p", self.remark, role="alert", class_="insp-problem")
        except Exception as error:  # noqa: BLE001  any error of the server or of the SDK is shown
            told = f"Failed after {duration(time.monotonic() - start)}."
            self._problem.text = sentence(error)
            self._problem.hidden = False
        finally:
            self._scope = None
            self._end(told)

    def _begin(self) -> None:
        self._problem.hidden = True
        self.remark = ""
        self.result.clear()
        self._button.disabled = True
        self._cancel.hidden = False
        self._status.text = "Waiting …"

    def _end(self, told: str) -> None:
        had_focus = bool(self._cancel.js == self._page.js.activeElement)
        self._button.disabled = False
        self._cancel.hidden = self._bar.hidden = True
        self._bar.set("value", None)
        self._status.text = told
        if had_focus:
            self._button.focus()

    def _stop(self) -> None:
        if self._scope is not None:
            self._scope.cancel()

    async def _on_progress(self, progress: float, total: float | None, message: str | None) -> None:
        self._bar.hidden = False
        if total:
            self._bar.set("max", str(total))
            self._bar.set("value", str(progress))
        done = f"{progress:g} of {total:g}" if total else f"{progress:g}"
        self._status.text = f"{done}: {message}" if message else done


def duration(seconds: float) -> str:
    """Return a duration for people."""
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def offer_completions(
    connection: Connection,
    calling: Calling,
    reference: types.PromptReference | types.ResourceTemplateReference,
    names: Sequence[str],
) -> None:
    """Offer the server's completions, if it has any.

    Args:
        calling: the request with the form.
        names: the names of the fields.
    """
    client, form = connection.client, calling.form
    if client is None or client.server_capabilities.completions is None or form is None:
        return

    async def complete(name: str, typed: str) -> list[str]:
        if connection.client is None:
            return []
        try:
            result = await connection.client.complete(reference, {"name": name, "value": typed})
        except MCPError:
            return []  # completions are optional: the field takes any text
        return list(result.completion.values)

    for name in names:
        form.complete(name, partial(complete, name))
