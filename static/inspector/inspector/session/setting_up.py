"""The setup phase of a server: in a dialog if it needs to be visible, else hidden; the user can always cancel it."""

from __future__ import annotations

import asyncio
from typing import Any

from inspector.session.servers import Server
from inspector.session.telling import PlainEnd
from inspector.widgets.dialogs import Dialog
from mcpframe import Page, Permission
from mcpframe.hosts import POPUP, OuterFrame
from mcpframe.wire import SetupErrorCode, SetupResult


class SetupGivenUp(PlainEnd):
    """The user has cancelled the setup."""


async def set_up(page: Page, outer: OuterFrame, server: Server) -> SetupResult:
    """Run a server's setup.

    Returns:
        The report of the server's page.

    Raises:
        SessionError: it cannot be set up; see its subclasses.
        SetupGivenUp: the user cancelled it.
    """
    popup = server.place == "popup"
    with Dialog(page, f"Set up {server.name}", "insp-setup") as dialog:
        place = dialog.body.add("div", class_="insp-setup-place")
        dialog.closer("Cancel setup")
        async with outer.setup(POPUP if popup else place) as setup:
            if popup:
                dialog.body.add("p", "The setup is in a window of its own.")
            if popup or setup.requires_visible:
                dialog.show()
            finished = asyncio.ensure_future(setup.result())
            given_up = asyncio.ensure_future(dialog.answered())
            both: list[asyncio.Future[Any]] = [finished, given_up]
            try:
                await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
                if not finished.done():
                    raise SetupGivenUp("The setup was cancelled.")
                return finished.result()
            finally:
                for future in both:
                    future.cancel()


def reason_of(result: SetupResult) -> str:
    """Return the reason why a setup was not completed, from the report of its page."""
    told = result.error_message or "It gives no reason."
    if result.error_code in (None, SetupErrorCode.USER_CANCELLED):
        return told
    return f"The setup ended with {result.error_code}: {told}"


async def ask_for_permissions(page: Page, name: str, permissions: tuple[Permission, ...]) -> list[str]:
    """Let the user choose the permissions of a page; without an answer it gets none."""
    with Dialog(page, f"{name} asks for permissions") as dialog:
        boxes = []
        for permission in permissions:
            row = dialog.body.add("div", class_="insp-check")
            label = row.add("label")
            box = label.add("input", type="checkbox", checked=permission.required)
            label.add("span", permission.name)
            if permission.required:
                label.add("span", " (it cannot do without)", class_="quiet")
            if permission.purpose:
                row.add("p", permission.purpose, class_="quiet")
            boxes.append((permission.name, box))
        dialog.button("Allow nothing", "cancel")
        dialog.button("Allow what is checked", "allow", main=True)
        dialog.show()
        if await dialog.answered() != "allow":
            return []
        return [name for name, box in boxes if box.checked]
