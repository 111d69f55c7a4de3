"""The page of a gallery, from a jinja2 template. All texts of servers are escaped."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from mcpframe.kit.base.data import static_dir
from mcpframe.kit.bundle.assembly.assets import INSPECTOR
from mcpframe.kit.publish.gallery.files import ASSETS
from mcpframe.kit.publish.gallery.index import Entry
from mcpframe.kit.publish.gallery.pictures import HEIGHT, WIDTH

_TEMPLATE = "index.html.j2"
# `data:` is for pictures and sounds in the results of tools.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; "
    "media-src data: blob:; frame-src 'self'; base-uri 'none'; form-action 'none'"
)


def gallery_page(title: str, entries: Sequence[Entry]) -> str:
    """Return the text of `index.html`.

    Args:
        title: The page's title.
        entries: The servers, in the order in which they are shown.
    """
    environment = Environment(
        loader=FileSystemLoader(static_dir() / "gallery"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template(_TEMPLATE).render(
        title=title,
        servers=entries,
        policy=_POLICY,
        generator=f"mcpframe {version('mcpframe')}",
        assets=ASSETS,
        inspector=f"{INSPECTOR}/",
        width=WIDTH,
        height=HEIGHT,
    )
