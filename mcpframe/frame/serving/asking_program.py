"""Console scripts whose environment variables the visitor enters in a setup form.

The values are in the session's storage: in the visitor's browser, and never in the bundle. A program reads variables
when it is imported or when it runs: both happen once the session is known. The module is a `ServerModule`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, ClassVar

from mcpframe.frame.core.errors import SetupCancelled
from mcpframe.frame.core.markup import escape
from mcpframe.frame.serving.author_setup import Setup
from mcpframe.frame.serving.frame_session import FrameSession
from mcpframe.frame.serving.framed import Framed
from mcpframe.frame.session import lines
from mcpframe.frame.session.lines import PlainMessages

BUNDLED_WITH = ("visitor_env",)

KEY = "mcpframe: environment"
"""The key of the values in the session's storage."""
_FIELD = """\
<label for="env-{number}">{name}</label>
<input id="env-{number}" type="{kind}" autocomplete="off" spellcheck="false" placeholder="{hint}">
"""
_FORM = """\
<form>
<p>{title} reads these settings. They stay in this browser: the page that runs it is the only one that gets them.</p>
{fields}<button value="ok">Use them</button>
<button value="cancel" formnovalidate>Cancel</button>
</form>
"""
_PLAIN = ("URL", "URI", "HOST", "ENDPOINT", "NAME", "USER", "EMAIL", "ID", "DOMAIN", "REGION", "PATH", "SPACE")


class AskingProgram(Framed):
    """A console script that is imported for each session, with the variables that its visitor has entered.

    Args:
        entry: `module:function`.
        names: The environment variables.
        title: The program's name for people.
    """

    served_by: ClassVar[str] = __name__

    def __init__(self, entry: str, names: Sequence[str], title: str) -> None:
        super().__init__(None)
        self.entry = entry
        self.names = tuple(names)
        self.title = title
        self.setup(visible=True)(self._ask)

    async def _ask(self, session: FrameSession) -> Setup:
        known: dict[str, str] = await session.storage.get(KEY, {})
        page = session.page
        page.element("#mcpframe-app").unsafe_html = form(self.names, known, self.title)
        submitted = await page.element("form").event("submit")
        if submitted.js.submitter.value == "cancel":
            raise SetupCancelled
        entered = {name: page.element(f"#env-{number}").value.strip() for number, name in enumerate(self.names)}
        await session.storage.set(KEY, {**known, **{name: value for name, value in entered.items() if value}})
        return Setup()


def form(names: Sequence[str], known: Mapping[str, str], title: str) -> str:
    """Return the HTML of the form. Values that are kept are not shown; an empty field leaves them."""
    fields = "".join(
        _FIELD.format(
            number=number,
            name=escape(name),
            kind="text" if name.upper().endswith(_PLAIN) else "password",
            hint="kept; enter another to replace it" if name in known else "",
        )
        for number, name in enumerate(names)
    )
    return _FORM.format(title=escape(title), fields=fields)


def messages() -> PlainMessages:
    """Return the form of the messages in the streams of `serve`."""
    return PlainMessages()


async def list_tools(server: AskingProgram) -> None:
    """Return None: the program lists its tools only within a session."""


async def serve(
    server: AskingProgram,
    read: Any,
    write: Any,
    *,
    experimental: Mapping[str, Any] | None = None,
    on_problem: Callable[[str, BaseException | None], None] = lines.log_problem,
) -> None:
    """Import the program with its visitor's variables, and run it for one connection; see `ServerModule`."""
    session = server.session
    values: dict[str, str] | None = await session.storage.get(KEY)

    async def ask(*, can_continue: bool) -> None:
        if values is None and session.phase == "transport":
            message = f"{server.title} asks for {', '.join(server.names)}."
            await session.require_setup("OTHER", message, can_continue)

    await ask(can_continue=True)
    os.environ.update(values or {})
    failed = True

    def noted(title: str, error: BaseException | None) -> None:
        nonlocal failed
        failed = failed or error is not None
        on_problem(title, error)

    try:
        console = import_module("mcpframe.frame.serving.console")
        script = console.load_entry(server.entry)
        failed = False
        await console.serve(script, read, write, experimental=experimental, on_problem=noted)
    finally:
        if failed:
            await ask(can_continue=False)
