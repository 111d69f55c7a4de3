"""Answer a server's visible setup in place of a person: fill in its form and press its buttons."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from mcpframe.frame.core.errors import HandshakeTimeout

if TYPE_CHECKING:
    from playwright.async_api import Frame, Locator

Answers: TypeAlias = "Mapping[str, Any] | Callable[[Frame], Awaitable[Any]]"
"""Values by field, in order; or an async function that takes the framed page."""

_SELECTOR_STARTS = ("#", ".", "[", "css=", "xpath=", "text=", "role=", "id=", "data-testid=")


# A bundle's page calls its host from its head, before the rest of it is parsed.
_STARTED = """() => {
  const page = document.getElementById("mcpframe-page");
  return document.readyState !== "loading" && !["loading", "booting"].includes(page?.dataset.state);
}"""


async def page_started(frame: Frame, patience: float | None) -> None:
    """Wait until a bundle's page has started or failed; its handshake may be complete before.

    Args:
        frame: The framed page.
        patience: How long to wait, in seconds; None waits for ever.

    Raises:
        HandshakeTimeout: The page did not start in time.
    """
    from playwright.async_api import TimeoutError as PlaywrightTimeout

    try:
        await frame.wait_for_function(_STARTED, timeout=(patience or 0) * 1000, polling=100)
    except PlaywrightTimeout:
        raise HandshakeTimeout("The framed page did not start in time.") from None


async def answer_setup(frame: Frame, answers: Answers) -> None:
    """Fill in a setup's form.

    Args:
        frame: The framed page.
        answers: Values by field: its label, or a Playwright selector. A text or number is filled in or selected from a
            list, True and False check and uncheck, a path is chosen as a file, a list selects several. None clicks
            instead; the key is then a button's name, or a selector.

    Raises:
        playwright.async_api.Error: The field or button does not exist.
    """
    if not isinstance(answers, Mapping):
        answered = answers(frame)
        if inspect.isawaitable(answered):
            await answered
        return
    for field, value in answers.items():
        await _enter(_find(frame, field, button=value is None), value)


def _find(frame: Frame, field: str, *, button: bool) -> Locator:
    if field.startswith(_SELECTOR_STARTS):
        return frame.locator(field)
    return frame.get_by_role("button", name=field) if button else frame.get_by_label(field)


async def _enter(place: Locator, value: Any) -> None:
    if value is None:
        await place.click()
    elif isinstance(value, bool):
        await place.set_checked(value)
    elif isinstance(value, Path):
        await place.set_input_files(value)
    elif isinstance(value, list | tuple):
        paths = [item for item in value if isinstance(item, Path)]
        if paths:
            await place.set_input_files(paths)
        else:
            await place.select_option([str(item) for item in value])
    elif await place.evaluate("element => element.localName") == "select":
        await place.select_option(str(value))
    else:
        await place.fill(str(value))
