"""The composition root inside a page: from the boot config to a served session.

The loader calls `main` once Python runs. Everything that differs from page to page is in the boot config that the build
wrote into it; everything a person sees goes through `page`, the loader's callbacks.
"""

from __future__ import annotations

import asyncio
import json
import logging
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Protocol

from mcpframe.frame import load, sdk
from mcpframe.frame.batching import batch_callbacks
from mcpframe.frame.connection import AllowedOrigins, Connection, Options, parse_allowed_origins
from mcpframe.frame.errors import McpFrameError, SessionError
from mcpframe.frame.events import Event, Opened, Refused, SetupResult, Visibility, Window
from mcpframe.frame.protocols import sep
from mcpframe.frame.roles import Role

if TYPE_CHECKING:
    from mcpframe.frame.server import ServerObject

log = logging.getLogger("mcpframe")

_REPORTED_REFUSALS = 20
"""How many refused messages of one session are logged; the rest are only counted."""


class Page(Protocol):
    """What the loader shows to a person. All arguments are texts."""

    def progress(self, text: str) -> None:
        """Say what is being done."""

    def ready(self, info: str) -> None:
        """Show that the server waits for its host, or serves it: JSON with `state` and `origin`."""

    def fail(self, title: str, detail: str) -> None:
        """Show an error that a person can read, and its details such as a traceback."""

    def standalone(self, info: str) -> None:
        """Show what this page is, as it was opened by itself."""


@dataclass(frozen=True)
class BootConfig:
    """What the build wrote into the page.

    Attributes:
        entry: `module:object` of the author's server.
        name: the name of the bundle.
        title: the name for people.
        allowed_origins: origins of the hosts that may embed the page; empty to take those of the `FrameServer`.
        visibility: `requirement` and `message` for the setup's answer.
        options: any of `Options`' fields, and `allow_opaque`.
        lazy: for each lazy requirement, the wheels to fetch; see `load`.
    """

    entry: str
    name: str
    title: str
    allowed_origins: list[str] = field(default_factory=list)
    visibility: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    lazy: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, text: str) -> BootConfig:
        """Read it from the page's JSON; members for the loader alone are passed over."""
        data = json.loads(text)
        return cls(**{field.name: data[field.name] for field in fields(cls) if data.get(field.name) is not None})

    @property
    def connection_options(self) -> Options:
        """The deadlines and limits of the connection."""
        known = {field.name for field in fields(Options)}
        return Options(**{name: value for name, value in self.options.items() if name in known})

    def origins(self, server: ServerObject) -> AllowedOrigins:
        """Give the allow-list: the config's, or else the one the author passed to `FrameServer`.

        Raises:
            OriginError: where neither allows anybody.
        """
        named = self.allowed_origins or getattr(server, "allowed_origins", None) or []
        return parse_allowed_origins(named, opaque=bool(self.options.get("allow_opaque", False)))

    @property
    def setup_result(self) -> SetupResult:
        """How the setup of a server without one of its own ends: at once, with this."""
        requirement = Visibility(self.visibility.get("requirement") or Visibility.HIDDEN)
        return SetupResult(self.title, requirement, visibility_message=self.visibility.get("message"))


async def main(config_json: str, page: Page) -> None:
    """Start the author's server and serve the host of this page until either of them ends it.

    Nothing is raised: what goes wrong is shown on the page.

    Args:
        config_json: the boot config.
        page: the loader's callbacks.
    """
    try:
        await _run(BootConfig.read(config_json), page)
    except SessionError as error:
        page.fail(str(error), "")
    except McpFrameError as error:
        page.fail(str(error), traceback.format_exc())
    except BaseException as error:
        page.fail(f"The server stopped: {type(error).__name__}: {error}", traceback.format_exc())
        raise


async def _run(config: BootConfig, page: Page) -> None:
    sdk.prepare()
    if sdk.in_pyodide():
        batch_callbacks(asyncio.get_running_loop())
    load.configure(config.lazy)
    from mcpframe.frame import server as servers  # imports the SDK, which sdk.prepare() has to come before
    from mcpframe.frame import window

    page.progress("Starting the server")
    try:
        target = servers.load_entry(config.entry)
    except McpFrameError:
        raise
    except Exception:  # noqa: BLE001  whatever the author's module raises is shown
        page.fail(f"{config.title}: the server's module raised an error.", traceback.format_exc())
        return
    host = window.host_window()
    if host is None:
        page.standalone("{}")
        return
    allowed = config.origins(target)
    if allowed.anyone:
        log.warning("Any page may embed this server: its allowed_origins has '*'.")
    setup = sep.phase_of(window.fragment()) == "setup"
    role = sep.INNER_SETUP if setup else sep.INNER_TRANSPORT
    page.ready(json.dumps({"state": "waiting"}))
    await _serve(target, role, allowed, host, config, page)


async def _serve(
    target: ServerObject, role: Role, allowed: AllowedOrigins, host: Window, config: BootConfig, page: Page
) -> None:
    from mcpframe.frame import server as servers
    from mcpframe.frame.session import open_session

    refused = 0

    def on_event(event: Event) -> None:
        nonlocal refused
        if isinstance(event, Refused):
            refused += 1
            if refused <= _REPORTED_REFUSALS:
                log.warning("Refused a message from %s: %s", event.origin or "this page", event.error)
        elif isinstance(event, Opened):
            page.ready(json.dumps({"state": "connected", "origin": event.origin}))

    connection = Connection(role, allowed, options=config.connection_options)
    async with open_session(connection, host, on_event=on_event) as session:
        if role.phase == "setup":
            session.complete_setup(config.setup_result)
            return
        await servers.serve(target, *session.streams)
        closed = await session.ended()
    if closed.error:
        raise closed.error
