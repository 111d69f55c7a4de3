"""The options of `mcpframe serve --python`, checked before anything starts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mcpframe.kit.base.errors import ConfigError
from mcpframe.kit.edges.http.access import Access
from mcpframe.kit.edges.http.known_tokens import HOW_TO_MAKE_ONE
from mcpframe.kit.storage.opening import check_place

KEY_BYTES = 32
"""The shortest key, in bytes: the SDK's limit for AES-256-GCM."""


@dataclass(frozen=True)
class PlainOptions:
    """The options of the command. They are passed to worker processes as they are.

    Attributes:
        project: The path of the project.
        place: Where values are kept; see `kit.storage.places`.
        access: Where it listens, and who is answered.
        workers: The number of processes.
        keys: The keys that seal requests' state: the first seals, all open.
        meeting: The folder in which workers meet; None for one process.
    """

    project: Path
    place: str
    access: Access = field(default_factory=Access)
    workers: int = 1
    keys: Sequence[str] = field(default=(), repr=False)
    meeting: Path | None = None

    def check(self) -> None:
        """Raise an error for options that cannot be served.

        Raises:
            McpFrameError: As by `Access.check`.
            ConfigError: A key or a place is of no use, or the keys for several processes are missing.
        """
        self.access.check()
        if self.workers > 1 and not self.keys:
            raise ConfigError(
                "Several processes need one key for the state of requests, or each refuses what another has sent: set "
                f"MCPFRAME_STATE_KEYS to the output of: {HOW_TO_MAKE_ONE}"
            )
        if any(len(key.encode()) < KEY_BYTES for key in self.keys):
            raise ConfigError(f"A key for the state of requests needs {KEY_BYTES} bytes. A new one: {HOW_TO_MAKE_ONE}")
        check_place(self.place)
