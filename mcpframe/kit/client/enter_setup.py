"""Runs a server's setup from the command line: `--setup`, with the input of a person as `--enter` options."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mcpframe.frame.hosting.outer import OuterFrame, RunningSetup
from mcpframe.kit.base.errors import SetupNotDone
from mcpframe.kit.browser.devtools.host_page import HostPage
from mcpframe.kit.browser.devtools.setup_form import SetupForm
from mcpframe.kit.browser.page_window import PageGone

PATIENCE = 30.0
"""The deadline for a field to appear, and for the setup to complete after all input, in seconds."""

HOW = "--enter FIELD=VALUE, --enter FIELD=@FILE and --enter BUTTON"


def parse_entries(entries: Sequence[str]) -> list[tuple[str, Any]]:
    """Read `--enter` options, in their order.

    Args:
        entries: `FIELD=VALUE`, `FIELD=@FILE`, or `BUTTON`.

    Returns:
        The value for each field: a text, an absolute path, or None for a button.

    Raises:
        SetupNotDone: An entry has no name, or its file does not exist.
    """
    values: list[tuple[str, Any]] = []
    for entry in entries:
        name, equals, text = entry.partition("=")
        if not name:
            raise SetupNotDone(f"{entry!r} names neither a field nor a button: write {HOW}.")
        value: Any = text if equals else None
        if text.startswith("@"):
            value = Path(text[1:])
            if not value.is_file():
                raise SetupNotDone(f"{value} is not a file: write --enter {name}=@FILE with the path of one.")
        values.append((name, value.absolute() if isinstance(value, Path) else value))
    return values


async def run_setup(outer: OuterFrame, place: HostPage, entries: Sequence[tuple[str, Any]]) -> None:
    """Run the setup of a server.

    Args:
        entries: The entries from `parse_entries`.

    Raises:
        SessionError: The page does not begin a setup.
        SetupNotDone: It fails, or does not end with these entries.
    """
    async with outer.setup(place) as setup:
        assert place.window
        form = SetupForm(place.page, await place.window.framed(), PATIENCE)
        await form.started(outer.options.handshake_timeout)
        for name, value in entries:
            try:
                await form.enter(name, value)
            except PageGone as error:
                reason = str(error).splitlines()[0].removeprefix("Error: ").rstrip(".:")
                what = "field" if value is not None else "button"
                raise SetupNotDone(
                    f"The setup's {what} {name!r} cannot be used ({reason}){await _offered(form)}: write {HOW}."
                ) from None
        await _complete(setup, form)


async def _complete(setup: RunningSetup, form: SetupForm) -> None:
    try:
        result = await asyncio.wait_for(setup.result(), PATIENCE)
    except TimeoutError:
        if not setup.requires_visible:
            raise SetupNotDone(f"The setup has not ended within {PATIENCE:g} seconds: try it in a browser.") from None
        raise SetupNotDone(
            f"The setup waits for a person{await _offered(form)}: enter what it needs with {HOW}."
        ) from None
    if result.error_code:
        reason = str(result.error_message or "it does not say why").rstrip(".")
        raise SetupNotDone(f"The setup ended with {result.error_code} ({reason}): enter something else.")


async def _offered(form: SetupForm) -> str:
    names = await form.offered()
    return f" and has {', '.join(repr(name) for name in names)}" if names else ""
