"""The page of a bundle and its boot config, from a jinja2 template."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from mcpframe.kit.base.data import page_dir
from mcpframe.kit.bundle.assembly.assets import Asset
from mcpframe.kit.bundle.assembly.page_scripts import handed_script, inbox_script, prefetch_script, register_script

if TYPE_CHECKING:
    from jinja2 import Template

_DATA = rb'(<script type="application/json" id="%b"(?: data-files="[a-z]+")?>)(.*?)(</script>)'
BOOT = re.compile(_DATA % b"mcpframe-boot", re.DOTALL)
INBOX = re.compile(_DATA % b"mcpframe-inbox", re.DOTALL)
"""The data in a page."""


@dataclass(frozen=True)
class Handed:
    """The files of a page that has no addresses of them.

    Attributes:
        source: Where its files are: `document`, or `parent`, which hands them over.
        styles: The texts of its style sheets.
        files: Its files as text: `url`, as in the boot config, `kind`, `packed` and `text`.
    """

    source: Literal["document", "parent"]
    styles: Sequence[str]
    files: Sequence[Mapping[str, Any]] = ()


def boot_of(index: bytes) -> dict[str, Any]:
    """Return the boot config in a page."""
    match = BOOT.search(index)
    assert match is not None
    config: dict[str, Any] = json.loads(match[2])
    return config


def relative_url(asset: Asset, folder: str) -> str:
    """Return the URL of a file relative to a page in a folder of the output root."""
    return posixpath.relpath(asset.path, folder)


def link(asset: Asset, folder: str) -> dict[str, Any]:
    """Return the entry of a file in the boot config: its URL, hash and size."""
    return {"url": relative_url(asset, folder), "integrity": asset.integrity, "bytes": len(asset.data)}


@cache
def _template() -> Template:
    """Return the template of the page, which a build renders repeatedly."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # only authors have it

    loader = FileSystemLoader(page_dir())
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    return environment.get_template("index.html.j2")


def render_page(
    *,
    title: str,
    csp: str,
    generator: str,
    boot: Mapping[str, Any],
    trials: Iterable[str] = (),
    styles: Iterable[Mapping[str, Any]] = (),
    loader: Mapping[str, Any] | None = None,
    scripts: Iterable[Mapping[str, Any]] = (),
    preloads: Iterable[Mapping[str, Any]] = (),
    prefetch: bool = False,
    inbox: Mapping[str, Any] | None = None,
    sandbox: Mapping[str, Any] | None = None,
    worker: bool = False,
    handed: Handed | None = None,
    installable: Mapping[str, str] | None = None,
) -> bytes:
    """Render index.html.

    Args:
        title: The server's name for people.
        csp: The page's policy.
        generator: The name and version of the building program.
        trials: The tokens of origin trials, which have to be there before the first script.
        styles: The style sheets, as returned by `link`.
        loader: The loader's script; None in a page that is handed its files.
        scripts: Scripts that the loader runs.
        preloads: Files that the loader fetches.
        prefetch: Whether the page has the inline script that fetches its snapshot.
        inbox: The data of `inbox.js`, as returned by `inbox_data`; None for a page without it.
        sandbox: The sandbox proxy for views, as returned by `link`, and its origin; None for a page without views.
        worker: Whether the server runs in a worker.
        handed: What a page has in place of addresses of files; None for one that fetches them.
        installable: The URLs of its web app `manifest` and its `icon`; None for a page that is not to be installed.
    """
    markup = _template().render(
        title=title,
        csp=csp,
        generator=generator,
        boot=_Raw(script_json(boot)),
        trials=trials,
        styles=styles,
        loader=loader,
        scripts=scripts,
        preloads=preloads,
        sandbox=sandbox,
        worker=worker,
        handed=_handed(handed) if handed else None,
        installable={**installable, "script": _Raw(register_script())} if installable else None,
        prefetch=_Raw(prefetch_script()) if prefetch else None,
        inbox={"script": _Raw(inbox_script()), "data": _Raw(script_json(inbox, sort=False))} if inbox else None,
    )
    return markup.encode()


def script_json(data: Mapping[str, Any], *, sort: bool = True) -> str:
    """Return the text of a script element that holds data."""
    # Only these characters could end a script element; JSON reads the escapes the same.
    text = json.dumps(data, separators=(",", ":"), sort_keys=sort)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _handed(handed: Handed) -> dict[str, Any]:
    files = [{**each, "text": _Raw(each["text"])} for each in handed.files]
    styles = [_Raw(text) for text in handed.styles]
    return {"source": handed.source, "script": _Raw(handed_script()), "styles": styles, "files": files}


class _Raw(str):
    """Text that the template inserts without escaping it."""

    def __html__(self) -> str:
        return self
