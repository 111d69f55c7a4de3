"""What a host decides for its views: the functions that are asked before anything happens outside of a view."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Json = Mapping[str, Any]
Consent = bool | None | Awaitable[bool | None]
"""False declines. True and None mean that it was done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hooks:
    """The functions of one host; None for what it does not offer. Each may be async. See `AppHost`."""

    on_link: Callable[[str], Consent] | None = None
    on_message: Callable[[Sequence[Json]], Consent] | None = None
    on_download: Callable[[Sequence[Json]], Consent] | None = None
    on_model_context: Callable[[Sequence[Json], Json | None], Consent] | None = None
    on_display_mode: Callable[[str], str | Awaitable[str | None] | None] | None = None
    on_sampling: Callable[[Json], Any] | None = None
    on_log: Callable[[str, Any, str | None], None] | None = None
    on_tools_changed: Callable[[], None] | None = None
    on_teardown_request: Callable[[], None] | None = None

    @property
    def capabilities(self) -> dict[str, Json]:
        """What of `hostCapabilities` comes from these functions."""
        blocks: Json = {kind: {} for kind in ("text", "image", "audio", "resource", "resourceLink")}
        offered: dict[str, tuple[object, Json]] = {
            "openLinks": (self.on_link, {}),
            "downloadFile": (self.on_download, {}),
            "message": (self.on_message, blocks),
            "updateModelContext": (self.on_model_context, {**blocks, "structuredContent": {}}),
            "sampling": (self.on_sampling, {}),
            "logging": (self.on_log, {}),
        }
        return {name: value for name, (hook, value) in offered.items() if hook is not None}


async def settled(value: Any) -> Any:
    """Return a hook's answer, also of an async one."""
    return await value if inspect.isawaitable(value) else value
