"""A hook of MkDocs: `llms.txt`, the list of pages for language models, and the Markdown of each page beside its HTML.

The plugin mkdocs-llmstxt needs the address of the site, and converts HTML back into Markdown. Here links are relative,
and the Markdown is the page's source, whose links lead to the Markdown of other pages.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.nav import Navigation, Section
from mkdocs.structure.pages import Page

_LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")
_GENERATED = re.compile(r"<!--.*?-->\n*", re.DOTALL)
_FENCED = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
_NOT_PROSE = ("    ", "#", "<", "|", "!", ":", "-")
_nav: list[Navigation] = []


def on_nav(nav: Navigation, **_: Any) -> None:
    """Keep the order of the pages."""
    _nav[:] = [nav]


def on_post_build(*, config: MkDocsConfig, **_: Any) -> None:
    """Write the files."""
    site = Path(config.site_dir)
    text = f"# {config.site_name}\n\n> {config.site_description}\n"
    pages = [item for item in _nav[0].items if isinstance(item, Page)]
    text += _listed(site, pages)
    for section in _nav[0].items:
        if isinstance(section, Section):
            text += f"\n## {section.title}\n{_listed(site, _pages_of(section))}"
    (site / "llms.txt").write_text(text, "utf-8")


def _pages_of(section: Section) -> Iterable[Page]:
    for item in section.children:
        if isinstance(item, Section):
            yield from _pages_of(item)
        elif isinstance(item, Page):
            yield item


def _listed(site: Path, pages: Iterable[Page]) -> str:
    """Write the Markdown of pages, and return their lines of the list."""
    lines = []
    for page in pages:
        markdown = _GENERATED.sub("", page.markdown or "")
        (site / page.file.src_uri).write_text(markdown, "utf-8")
        lines.append(f"- [{page.title}]({page.file.src_uri}): {_first_sentence(markdown)}\n")
    return "\n" + "".join(lines)


def _first_sentence(markdown: str) -> str:
    """Return the first sentence of a page's prose, without links."""
    blocks = [block.strip("\n") for block in _FENCED.sub("", markdown).split("\n\n")]
    prose = next((block for block in blocks if block.strip() and not block.startswith(_NOT_PROSE)), "")
    first = re.split(r"(?<=[.:])\s", _LINK.sub(r"\1", " ".join(prose.split())), maxsplit=1)[0]
    return f"{first.removesuffix(':')}." if first.endswith(":") else first
