"""The boot config of a page: the settings that the build wrote into it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from mcpframe.frame.core.allowed_origins import OriginEntries, OriginLists
from mcpframe.frame.core.connection import Options
from mcpframe.frame.core.limits import SERVER_HANDSHAKE_SECONDS, WORKER_GRACE_SECONDS
from mcpframe.frame.dialects.available import offers, withheld
from mcpframe.frame.serving.framed import Framed

if TYPE_CHECKING:
    from mcpframe.frame.session.setup_phase import SetupResult


@dataclass(frozen=True)
class BootConfig:
    """The settings of a page.

    Attributes:
        entry: `module:object` or `module:factory()` of the author's server, or of the main function of a page.
        name: the name of the bundle.
        title: the name for people.
        allowed_origins: origins of the hosts that may embed the page; empty for those of the `FrameServer`.
        dialect_origins: by dialect, the origins that replace those.
        dialects: the dialects that the page offers; empty for all.
        visibility: `requirement` and `message` for the setup's answer.
        options: any of `Options`' fields, and `allow_opaque`.
        lazy: for each lazy requirement, the wheels to fetch; see `load`.
        load_first: those of them that are installed before the author's code is imported.
        assets: the author's files for the page: `base`, their folder, and `files`, their paths in it; where they were
            handed over, their `addresses`, too.
        kind: `"server"`, or `"page"` for a page with a main function.
        args: `sys.argv` of the author's code, after the program's name.
        env: its environment variables.
        program: the name of the console script whose function the entry names; empty for a server object.
        world: whether the author's code was written for a process: see `mcpframe.frame.world`.
        processes: whether the author's code starts processes: see `mcpframe.frame.worker.pool`.
        at_home: whether the home folder is the current one.
        absent: the packages that a server not written for mcpframe lacks: see `compat.third_party_placeholders`.
        persist: files and folders that are kept for each session: see `persist`.
        visitor_env: the environment variables of a program that its visitor enters: see `serving.asking_program`.
        about: `name`, `version` and `title` of the page, for its host.
        runs_in: `"page"`, or `"worker"` for a server that runs in a worker of the page, if it can have one.
        grace: seconds that a worker has to answer before it is ended: see `worker.supervisor`.
        tool_timeout: the time limits of tools in a worker, by name; `"*"` for all others.
    """

    entry: str
    name: str
    title: str
    allowed_origins: list[str] = field(default_factory=list)
    dialect_origins: Mapping[str, list[str]] = field(default_factory=dict)
    dialects: list[str] = field(default_factory=list)
    visibility: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    lazy: Mapping[str, Any] = field(default_factory=dict)
    load_first: list[str] = field(default_factory=list)
    assets: Mapping[str, Any] = field(default_factory=dict)
    kind: str = "server"
    args: list[str] = field(default_factory=list)
    env: Mapping[str, str] = field(default_factory=dict)
    program: str = ""
    world: bool = False
    processes: bool = False
    at_home: bool = False
    absent: Mapping[str, Mapping[str, Any]] | None = None
    persist: list[str] = field(default_factory=list)
    visitor_env: list[str] = field(default_factory=list)
    about: Mapping[str, str] = field(default_factory=dict)
    runs_in: str = "page"
    grace: float = WORKER_GRACE_SECONDS
    tool_timeout: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def read(cls, text: str) -> BootConfig:
        """Read it from the page's JSON; members for the loader alone are ignored."""
        data = json.loads(text)
        return cls(**{field.name: data[field.name] for field in fields(cls) if data.get(field.name) is not None})

    @property
    def environment(self) -> dict[str, Any]:
        """The arguments of `set_environment`."""
        names = ("args", "env", "program", "world", "processes", "at_home", "absent")
        return {name: getattr(self, name) for name in names}

    def offers(self, name: str) -> bool:
        """Return whether the page offers a dialect."""
        return offers(self.dialects, name)

    @property
    def connection_options(self) -> Options:
        """The deadlines and limits of the connection. A server waits long: its host may ask a user first."""
        known = {field.name for field in fields(Options)}
        given = {name: value for name, value in self.options.items() if name in known}
        patience = {"handshake_timeout": SERVER_HANDSHAKE_SECONDS} if self.kind == "server" else {}
        return Options(**{**patience, **given})

    def origins(self, server: object, own_origin: str) -> OriginLists:
        """Return the allow-lists of the offered dialects: the config's, or else those of the `FrameServer`.

        Args:
            server: what serves.
            own_origin: the page's origin, which is `"self"` in a list.

        Raises:
            OriginError: if neither allows any origin.
        """
        common, own = tuple(self.allowed_origins), self.dialect_origins
        entries = OriginEntries(common, {name: tuple(origins) for name, origins in own.items()})
        if not entries and isinstance(server, Framed):
            entries = OriginEntries(server.allowed_origins or (), server.dialect_origins)
        opaque = bool(self.options.get("allow_opaque", False))
        return entries.with_own(own_origin).parse(opaque=opaque).without(withheld(self.dialects))

    @property
    def setup_result(self) -> SetupResult:
        """The immediate result of the setup for a server without a setup function."""
        from mcpframe.frame.session.setup_phase import configured_result

        return configured_result(self.title, self.visibility)
