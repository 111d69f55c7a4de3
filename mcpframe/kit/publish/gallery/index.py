"""`index.json` of a gallery: its servers, for other pages, scripts and registries; and their earlier versions."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mcpframe.frame.core.allowed_origins import SELF
from mcpframe.kit.bridge.chromium.bridge_page import HOST_ORIGIN
from mcpframe.kit.bundle.assembly.built_manifest import MANIFEST, origins_of
from mcpframe.kit.bundle.output_root import BuildResult
from mcpframe.kit.project.project import Project
from mcpframe.kit.servers.published import allows, not_offered

INDEX = "index.json"
PICTURES = ("gallery.svg", "gallery.png", "gallery.webp", "gallery.jpg")
"""The files of a project of which the first is its picture."""
_FORMAT = 1
_SUMMARY = 160


@dataclass(frozen=True)
class Version:
    """A version of a server that the gallery has had.

    Attributes:
        version: As the server says it.
        inputs: The hash of all that it was built from, as in its manifest.
    """

    version: str
    inputs: str


@dataclass(frozen=True)
class Entry:
    """A server of a gallery.

    Attributes:
        name: Its folder.
        title: Its name for people.
        description: What it is, in a sentence or two; empty if its project does not say.
        version: As the server says it.
        url: Its page, relative to the gallery, as all addresses.
        manifest: Its manifest.
        picture: A picture of it; None for none.
        edit: Where its project can be edited; None for nowhere.
        tools: Its tools, each with `name` and `description`.
        dialects: The dialects that it offers.
        hosts: The origins that may embed it, besides the gallery's own.
        bridged: Whether the bridge may open its address, for MCP clients.
        first_visit: Bytes of a first visit, with gzip.
        versions: The present version, and those before it, the latest first.
    """

    name: str
    title: str
    description: str
    version: str
    url: str
    manifest: str
    picture: str | None
    edit: str | None
    tools: tuple[Mapping[str, str], ...]
    dialects: tuple[str, ...]
    hosts: tuple[str, ...]
    bridged: bool
    first_visit: int
    versions: tuple[Version, ...]

    @property
    def megabytes(self) -> str:
        """`first_visit` for people."""
        return f"{self.first_visit / 1e6:.1f}"


def entry_of(
    project: Project, result: BuildResult, picture: str | None, edit: str | None, earlier: Mapping[str, Any]
) -> Entry:
    """Return the entry of a server.

    Args:
        result: Its bundle.
        picture: The address of its picture; None for none.
        edit: Where its project can be edited; None for nowhere.
        earlier: The gallery's index so far, by server: see `read_index`.
    """
    manifest = result.manifest
    now = Version(str(manifest["server"]["version"] or ""), str(manifest["inputs"]))
    before = [Version(each["version"], each["inputs"]) for each in earlier.get(result.name, ())]
    return Entry(
        name=result.name,
        title=manifest["title"],
        description=_description(project) or _first_lines(manifest["instructions"] or ""),
        version=now.version,
        url=result.url_path,
        manifest=f"{result.url_path}{MANIFEST}",
        picture=picture,
        edit=edit,
        tools=tuple(
            {"name": tool["name"], "description": _first_lines(tool.get("description") or "")}
            for tool in result.tools or ()
        ),
        dialects=tuple(manifest["dialects"]),
        hosts=tuple(origin for origin in origins_of(manifest).all if origin != SELF),
        bridged=allows(manifest, HOST_ORIGIN) and not not_offered(manifest),
        first_visit=result.sizes["first_visit"],
        versions=(now, *(each for each in before if each != now)),
    )


def index_text(title: str, entries: Sequence[Entry]) -> str:
    """Return the text of the file."""
    content = {"mcpframe_gallery": _FORMAT, "title": title, "servers": [asdict(entry) for entry in entries]}
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def read_index(out: Path) -> dict[str, list[dict[str, str]]]:
    """Return the versions in the index of an output root, by server; none if it is no index of a gallery."""
    try:
        content = json.loads((out / INDEX).read_text("utf-8"))
        return {
            server["name"]: [{key: str(each[key]) for key in ("version", "inputs")} for each in server["versions"]]
            for server in content["servers"]
        }
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _description(project: Project) -> str:
    data = tomllib.loads(project.file.read_text("utf-8"))
    description = data.get("project", {}).get("description", "")
    return description if isinstance(description, str) else ""


def _first_lines(text: str) -> str:
    """Return the first paragraph of a text, on one line, and no more of it than a card has room for."""
    paragraph = " ".join(text.strip().partition("\n\n")[0].split())
    return paragraph if len(paragraph) <= _SUMMARY else f"{paragraph[:_SUMMARY].rsplit(' ', 1)[0]} …"
