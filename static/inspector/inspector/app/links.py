"""Links to the inspector that add a server, after the user has confirmed it. Any page may have such a link."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import parse_qs

from inspector.session.servers import DIALECTS, ERAS
from inspector.widgets.dialogs import Dialog
from mcpframe import Page
from mcpframe.hosts import parse_address

RUN = "#kept="
"""The prefix of the id in the address of a run that the playground keeps."""


@dataclass(frozen=True)
class Link:
    """The server in the fragment of the inspector's address.

    Attributes:
        url: the address of a server.
        era: one of `ERAS`.
        dialect: one of `DIALECTS`; empty if it names none.
        title: the server's title until its setup reports one. A stranger's link may have any: only a run's is shown.
    """

    url: str
    era: str
    dialect: str = ""
    title: str = ""


def read_link(fragment: str) -> Link | None:
    """Read `#add=ADDRESS&era=ERA&dialect=DIALECT&title=TITLE`; None for another fragment.

    Raises:
        OriginError: the address cannot be framed.
    """
    asked = parse_qs(fragment.removeprefix("#"))
    if "add" not in asked:
        return None
    url, _ = parse_address(asked["add"][0])
    era = asked.get("era", ["auto"])[0]
    named = asked.get("dialect", [""])[0]
    return Link(url, era if era in ERAS else "auto", named if named in DIALECTS else "", asked.get("title", [""])[0])


async def agrees(page: Page, url: str) -> bool:
    """Ask the user whether to add the server of a link."""
    with Dialog(page, "Add this server?", "insp-link") as dialog:
        dialog.body.add("p", "A link asks the inspector to frame this page and to connect to it:")
        dialog.body.add("code", url)
        dialog.body.add("p", "Add it only if you know whose it is.", class_="quiet")
        dialog.button("Do not add it", "cancel")
        dialog.button("Add it", "add", main=True)
        dialog.show()
        return await dialog.answered() == "add"
