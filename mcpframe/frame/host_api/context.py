"""A page's context and displayed tool call, as sent by its host."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Insets:
    """The covered margins of a page, in CSS pixels."""

    top: float = 0
    right: float = 0
    bottom: float = 0
    left: float = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """The space that a host has for a page, in CSS pixels; None for a dimension that it leaves open.

    Attributes:
        width: the exact width.
        height: the exact height.
        max_width: the largest width.
        max_height: the largest height.
    """

    width: float | None = None
    height: float | None = None
    max_width: float | None = None
    max_height: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HostContext:
    """The host's context for a page; None or empty for members that the host has not sent.

    Attributes:
        theme: `"light"` or `"dark"`.
        variables: CSS variables, by name with its dashes.
        fonts: CSS with the host's fonts.
        display_mode: `"inline"`, `"fullscreen"` or `"pip"`.
        display_modes: the display modes that the host offers.
        container: the space for the page.
        locale: a BCP 47 tag, such as `"en-US"`.
        time_zone: an IANA name, such as `"Europe/Vienna"`.
        user_agent: the host's name.
        platform: `"web"`, `"desktop"` or `"mobile"`.
        touch: whether it has a touch screen.
        hover: whether it has a pointer that hovers.
        safe_area: the covered margins of the page.
        tool: the definition of the page's tool, as in `tools/list`.
        tool_call_id: the id of the tool call.
        raw: the context as the host sent it, with members that are not listed here.
    """

    theme: str | None = None
    variables: Mapping[str, str] = field(default_factory=dict, hash=False)
    fonts: str | None = None
    display_mode: str | None = None
    display_modes: tuple[str, ...] = ()
    container: Container | None = None
    locale: str | None = None
    time_zone: str | None = None
    user_agent: str | None = None
    platform: str | None = None
    touch: bool | None = None
    hover: bool | None = None
    safe_area: Insets | None = None
    tool: Json | None = field(default=None, hash=False)
    tool_call_id: str | int | None = None
    raw: Json = field(default_factory=dict, hash=False)

    @classmethod
    def read(cls, raw: Json) -> HostContext:
        """Read a `hostContext` (MCP Apps, "Host Context"). Members of a wrong type are ignored."""
        styles, device, info = (_object(raw, key) for key in ("styles", "deviceCapabilities", "toolInfo"))
        variables = {
            name: value
            for name, value in _object(styles, "variables").items()
            if name.startswith("--") and isinstance(value, str)
        }
        modes = raw.get("availableDisplayModes")
        tool, call = info.get("tool"), info.get("id")
        return cls(
            theme=_text(raw, "theme"),
            variables=variables,
            fonts=_text(_object(styles, "css"), "fonts"),
            display_mode=_text(raw, "displayMode"),
            display_modes=tuple(mode for mode in modes if isinstance(mode, str)) if isinstance(modes, list) else (),
            container=_container(raw),
            locale=_text(raw, "locale"),
            time_zone=_text(raw, "timeZone"),
            user_agent=_text(raw, "userAgent"),
            platform=_text(raw, "platform"),
            touch=_flag(device, "touch"),
            hover=_flag(device, "hover"),
            safe_area=_insets(raw),
            tool=tool if isinstance(tool, dict) else None,
            tool_call_id=call if isinstance(call, str | int) else None,
            raw=dict(raw),
        )

    def changed(self, partial: Json) -> HostContext:
        """Return the context after a change: the members sent replace the earlier ones."""
        return HostContext.read({**self.raw, **partial})


@dataclass(frozen=True, slots=True)
class ToolInputPartial:
    """Partial arguments of the tool call, while a model writes them: the last ones may be incomplete."""

    arguments: Json = field(hash=False)


@dataclass(frozen=True, slots=True)
class ToolInput:
    """The arguments of the tool call."""

    arguments: Json = field(hash=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """The result of the tool call.

    Attributes:
        content: the content blocks, as in MCP.
        structured: `structuredContent`; None for none.
        is_error: whether the tool failed.
        meta: `_meta`.
    """

    content: tuple[Json, ...] = field(default=(), hash=False)
    structured: Any = field(default=None, hash=False)
    is_error: bool = False
    meta: Json = field(default_factory=dict, hash=False)

    @classmethod
    def read(cls, raw: Json) -> ToolResult:
        """Read a `CallToolResult`."""
        content = raw.get("content")
        return cls(
            content=tuple(block for block in content if isinstance(block, dict)) if isinstance(content, list) else (),
            structured=raw.get("structuredContent"),
            is_error=raw.get("isError") is True,
            meta=_object(raw, "_meta"),
        )

    @property
    def text(self) -> str:
        """The texts of its content, one per line."""
        texts = (block.get("text") for block in self.content if block.get("type") == "text")
        return "\n".join(text for text in texts if isinstance(text, str))


@dataclass(frozen=True, slots=True)
class ToolCancelled:
    """The tool call was cancelled, with the host's reason; empty for none."""

    reason: str = ""


ToolEvent = ToolInputPartial | ToolInput | ToolResult | ToolCancelled


def _text(data: Json, key: str) -> str | None:
    value = data.get(key)
    return value if isinstance(value, str) else None


def _flag(data: Json, key: str) -> bool | None:
    value = data.get(key)
    return value if isinstance(value, bool) else None


def _object(data: Json, key: str) -> Json:
    value = data.get(key)
    return value if isinstance(value, dict) else {}


def _number(data: Json, key: str) -> float | None:
    value = data.get(key)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _container(raw: Json) -> Container | None:
    given = raw.get("containerDimensions")
    if not isinstance(given, dict):
        return None
    return Container(
        width=_number(given, "width"),
        height=_number(given, "height"),
        max_width=_number(given, "maxWidth"),
        max_height=_number(given, "maxHeight"),
    )


def _insets(raw: Json) -> Insets | None:
    given = raw.get("safeAreaInsets")
    if not isinstance(given, dict):
        return None
    return Insets(**{side: _number(given, side) or 0 for side in ("top", "right", "bottom", "left")})
