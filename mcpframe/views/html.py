"""The text of a view that shows a published bundle, and its `_meta`, from the bundle's URL.

A view of MCP Apps is HTML text, in which relative URLs do not resolve. This text is a few kilobytes that show the
bundle in the best way that the host's policy allows: in a frame of the bundle's own, else in the view's own document,
else as the text of the tool's result. It stays the same when the bundle is built anew.

Its source is `static/app/view.js`; `view_text.py` is generated from it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from types import MappingProxyType
from typing import Any, Final, Literal, get_args

from mcpframe.views.csp import Sources, page_directives, policy_text

PERMISSIONS: Final = ("camera", "microphone", "geolocation", "clipboardWrite")
"""The permissions that a view can request in `_meta.ui.permissions`."""

Form = Literal["app", "inline"]
"""How a view shows its bundle: `app` for hosts of MCP Apps; `inline`, always in the view's own document, for others."""

_BARS: Final = '<div class="mcpframe-bars"><i></i><i></i></div>'
"""The first paint of a view, unless its author has one."""
_BARS_HEIGHT: Final = 120

_NO_SOURCES: Final[Sources] = MappingProxyType({})


def view_html(
    url: str, *, form: Form = "app", sources: Sources = _NO_SOURCES, first_paint: str = "", height: int = 0
) -> str:
    """Return the HTML text of the view that shows a bundle.

    Args:
        url: The bundle's page, such as `"https://tools.example/forecast/"`.
        form: How it shows it.
        sources: What the bundle's page may use besides its own origin, by directive.
        first_paint: HTML that is shown until the bundle has drawn.
        height: The height of the bars in its place, in CSS pixels; 0 for the usual one.

    Raises:
        ValueError: The URL is not an absolute address with http or https, or has a fragment, user or password; or the
            form is unknown.
    """
    from mcpframe.views.view_text import SCRIPT_HASH, TEXT

    if form not in get_args(Form):
        raise ValueError(f"{form!r} is not a form of a view; possible are {', '.join(get_args(Form))}.")
    policy = _policy(url_origin(url), sources, SCRIPT_HASH)
    values = {
        "POLICY": escape(policy, quote=True).replace("&#x27;", "'"),
        "BUNDLE_URL": escape(url),
        "FORM": form,
        "BARS_HEIGHT": f"{height or _BARS_HEIGHT}px",
        "FIRST_PAINT": first_paint or _BARS,
    }
    head, script, tail = TEXT
    # In one pass: a URL may contain the name of a later value.
    head = re.sub("|".join(values), lambda found: values[found[0]], head)
    return f"{head}{script}{tail}"


def view_meta(
    url: str, *, sources: Sources = _NO_SOURCES, prefers_border: bool | None = None, permissions: Iterable[str] = ()
) -> dict[str, dict[str, Any]]:
    """Return the `_meta` of that view's resource: an object with the member `ui`.

    Its `csp` asks for what either way of showing the bundle needs. `wasmUnsafeEval` is proposed
    (https://github.com/modelcontextprotocol/ext-apps/issues/605), and no published host reads it.

    Args:
        url: See `view_html`.
        sources: See `view_html`.
        prefers_border: Whether to ask the host for a border and a background; None leaves that to the host.
        permissions: The browser permissions that the bundle asks for, of `PERMISSIONS`.

    Raises:
        ValueError: The URL cannot be used, or a permission is unknown.
    """
    names = list(permissions)
    if unknown := [name for name in names if name not in PERMISSIONS]:
        raise ValueError(f"{unknown[0]!r} is not a permission; possible are {', '.join(PERMISSIONS)}.")
    origin = url_origin(url)
    resources = [source for name in _RESOURCES for source in sources.get(name, ())]
    ui: dict[str, Any] = {
        "csp": {
            "frameDomains": _domains(origin, sources.get("frame-src", ())),
            "connectDomains": _domains(origin, sources.get("connect-src", ())),
            "resourceDomains": _domains(origin, resources),
            "wasmUnsafeEval": True,
        }
    }
    if names:
        ui["permissions"] = {name: {} for name in PERMISSIONS if name in names}
    if prefers_border is not None:
        ui["prefersBorder"] = prefers_border
    return {"ui": ui}


def url_origin(url: str) -> str:
    """Return the origin of a bundle's URL, as a browser serializes it.

    Raises:
        ValueError: It is not an absolute address with http or https, or has a fragment, user or password.
    """
    from mcpframe.frame.core.places import parse_address

    if any(character <= " " or character in "\"'<>#" for character in url):
        raise ValueError(f"{url!r} is not the address of a bundle: it has characters that belong in no URL.")
    return parse_address(url)[1]


_RESOURCES = ("img-src", "media-src", "font-src", "style-src")


def _policy(origin: str, sources: Sources, script: str) -> str:
    """Return the text's own policy: that of the bundle's page, besides its own script, its styles and the frame."""
    # 'self' would be the sandbox that the host writes the view into.
    named = {
        name: [origin if source == "'self'" else source for source in more if source != "'none'"]
        for name, more in sources.items()
    }
    directives = page_directives(origin, named)
    for name, source in (("script-src", f"'{script}'"), ("style-src", "'unsafe-inline'"), ("frame-src", origin)):
        directives[name].insert(0, source)
    return policy_text(directives)


def _domains(origin: str, sources: Iterable[str]) -> list[str]:
    """Return the sources that `_meta.ui.csp` can have: no keywords, and no schemes alone."""
    named = [source for source in sources if not source.startswith("'") and not source.endswith(":")]
    return list(dict.fromkeys([origin, *named]))
