"""One view: the resource `ui://…` that a host reads, its MIME type and its `_meta`.

Names as in SEP-1865: https://modelcontextprotocol.io/extensions/apps/overview
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, get_args

from mcpframe.frame.core.errors import ViewError
from mcpframe.frame.core.limits import FIRST_PAINT_BYTES, FIRST_PAINT_HEIGHT
from mcpframe.views.html import PERMISSIONS, Form, view_html, view_meta

EXTENSION_ID = "io.modelcontextprotocol/ui"
"""The extension's identifier among a server's and a client's capabilities."""

MIME_TYPE = "text/html;profile=mcp-app"
"""The MIME type of a view's resource."""

ToolVisibility = Literal["model", "app"]
"""Who may call a tool: the host's model, or the view."""

_EARLIER_KEY = "ui/resourceUri"
"""The key that hosts before 2026-01-26 read; npm's `registerAppTool` also writes both."""

_NOT_IN_A_URI = re.compile(r"[\s\x00-\x1f\"'<>\\`{}|^]")


class View:
    """A bundle as a view.

    Args:
        source: The URL at which the bundle is published, or a folder that `mcpframe build` has written.
        uri: The resource's URI, by which tools name the view: `ui://…`.
        first_paint: HTML with inline styles, of at most 6 KB, that is shown until the bundle has drawn; by default two
            grey bars. Of a folder, the project of the build has it, as `first_paint` in `[tool.mcpframe.app]`.
        height: The height of the larger bar, in CSS pixels: that of what will be drawn. Of a folder as `first_paint`.
        form: `app`, a text that shows the bundle in the best way that its host allows; or `inline`, one that shows it
            in the view's own document, as hosts of mcp-ui need it.
        title: A title of the resource, for people.
        description: a description of the view, for people.
        prefers_border: Whether the host should draw a border around it; None leaves that to the host.
        permissions: Permissions Policy features that the view asks its host for, as the specification names them:
            `camera`, `microphone`, `geolocation`, `clipboardWrite`. Of a folder: None for those of its build.
        domain: The origin that the view asks its host for; see the host's documentation.

    Raises:
        ViewError: The URL or the folder cannot be used, the URI is not one of `ui://`, or the first paint is too large.

    Attributes:
        uri: The resource's URI.
        html: The resource's text.
        url: The address of the bundle; empty for the inline form, which is used by its text.
        mime_type: Its MIME type.
        meta: Its `_meta`.
    """

    mime_type = MIME_TYPE

    def __init__(
        self,
        source: str | Path,
        *,
        uri: str,
        form: Form = "app",
        first_paint: str = "",
        height: int = 0,
        title: str | None = None,
        description: str | None = None,
        prefers_border: bool | None = None,
        permissions: Sequence[str] | None = None,
        domain: str | None = None,
    ) -> None:
        self.uri = _checked_uri(uri)
        self.title = title
        self.description = description
        if form not in get_args(Form):
            raise ViewError(f"form={form!r}: write 'app' or 'inline'.")
        if isinstance(source, Path) or not _has_scheme(source):
            if first_paint or height:
                raise ViewError(f"{source} has its first paint already: write it into [tool.mcpframe.app] and build.")
            self.html, self.url, meta = _read_folder(Path(source), form)
        else:
            self.html, self.url, meta = _of_url(source, form, first_paint, height)
        ui = dict(meta.get("ui") or {})
        if permissions is not None:
            ui["permissions"] = {name: {} for name in _checked_permissions(permissions)}
        if prefers_border is not None:
            ui["prefersBorder"] = prefers_border
        if domain is not None:
            ui["domain"] = domain
        self.meta: dict[str, Any] = {**meta, "ui": ui}

    def __repr__(self) -> str:
        return f"<View {self.uri}>"

    def tool_meta(self, visibility: Sequence[ToolVisibility] | None = None) -> dict[str, Any]:
        """Return the `_meta` of a tool that has this view.

        Args:
            visibility: Who may call the tool; None leaves it out, which means both.

        Raises:
            ViewError: if it is empty, or has another name.
        """
        ui: dict[str, Any] = {"resourceUri": self.uri}
        if visibility is not None:
            known = get_args(ToolVisibility)
            if isinstance(visibility, str) or not visibility or set(visibility) - set(known):
                raise ViewError(f"visibility={visibility!r}: write a list of 'model', 'app' or both.")
            ui["visibility"] = [name for name in known if name in visibility]
        return {"ui": ui, _EARLIER_KEY: self.uri}


def _checked_uri(uri: str) -> str:
    if not uri.startswith("ui://") or len(uri) == len("ui://") or _NOT_IN_A_URI.search(uri):
        raise ViewError(f"{uri!r} is not the URI of a view: write 'ui://' and a name, such as 'ui://weather/forecast'.")
    return uri


def _has_scheme(source: str) -> bool:
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]+:", source) is not None


def _of_url(url: str, form: Form, first_paint: str, height: int) -> tuple[str, str, dict[str, Any]]:
    if (size := len(first_paint.encode())) > FIRST_PAINT_BYTES:
        raise ViewError(
            f"first_paint has {size:,} bytes: it is part of the view's text, so keep it below {FIRST_PAINT_BYTES:,}."
        )
    if not 0 <= height <= FIRST_PAINT_HEIGHT:
        raise ViewError(f"height={height}: write 1 to {FIRST_PAINT_HEIGHT} pixels.")
    try:
        html = view_html(url, form=form, first_paint=first_paint, height=height)
        return html, url if form == "app" else "", view_meta(url)
    except ValueError as error:
        raise ViewError(
            f"A view is a published bundle, or a folder that `mcpframe build` has written. {error}"
        ) from None


def _checked_permissions(names: Sequence[str]) -> Sequence[str]:
    if isinstance(names, str) or set(names) - set(PERMISSIONS):
        raise ViewError(f"permissions={names!r}: write a list of {', '.join(map(repr, PERMISSIONS))}.")
    return names


def _read_folder(folder: Path, form: Form) -> tuple[str, str, dict[str, Any]]:
    if not folder.is_dir():
        raise ViewError(
            f"{str(folder)!r} is neither a URL nor a folder: give the bundle's address with https://, or the folder "
            "that `mcpframe build` has written."
        )
    try:
        entry = json.loads((folder / "manifest.json").read_text("utf-8"))["app"]
        url = str(entry["url"]) if form == "app" else ""
        return (folder / entry["files"][form]).read_text("utf-8"), url, dict(entry["_meta"])
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise ViewError(
            f"{folder} has no view: build the project with its public address, by mcpframe build --url https://… or "
            "url in [tool.mcpframe]."
        ) from error
