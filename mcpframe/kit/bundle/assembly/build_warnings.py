"""The warnings of a build: about embedding, public data, and code that does not work in a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from html.parser import HTMLParser
from typing import Any

from mcpframe.frame.core.allowed_origins import ANY, OPAQUE, OriginEntries
from mcpframe.kit.bundle.assembly.built_manifest import origins_of
from mcpframe.kit.bundle.assembly.client_rules import client_warnings
from mcpframe.kit.bundle.assembly.offered import lists_of, without_hosts, without_use
from mcpframe.kit.bundle.wasm.profile import profiled
from mcpframe.kit.project.origin_trial import read_token, token_problems
from mcpframe.kit.project.project import Project
from mcpframe.kit.project.pyproject import McpframeConfig
from mcpframe.views.html import url_origin

_ON_WINDOWS = frozenset('<>:"\\|?*')
"""Characters that names of files cannot have there."""
_STYLES = "inline styles"
_HANDLERS = "inline handlers"
_INSTEAD = {
    _STYLES: "use classes and a style sheet listed in styles, or set element.js.style in Python",
    _HANDLERS: "use element.on(...) in Python",
}


def build_warnings(project: Project, manifest: Mapping[str, Any], files: Mapping[str, bytes]) -> tuple[str, ...]:
    """Return the warnings about a bundle.

    Args:
        files: The author's files for the page, by path.
    """
    texts = [*manifest["patches"]["notes"], *manifest.get("notes", ())]
    if profiled():
        texts += [
            f"The first visit is larger: {name} is in one file, as this mcpframe has no profile of its version."
            for name in manifest.get("whole", ())
        ]
    origins = origins_of(manifest)
    texts += _dialect_warnings(project, origins)
    if ANY in origins.common:
        texts.append('allowed_origins has "*": any page on the web may embed the server and call its tools.')
    for dialect, own in origins.own.items():
        for entry, who in ((ANY, "page on the web"), (OPAQUE, "sandboxed frame or file")):
            if entry in own:
                texts.append(
                    f'allowed_origins.{dialect} has "{entry}": any {who} may embed the server as a host of that '
                    "dialect, and call its tools."
                )
    if project.config.options.allow_opaque:
        texts.append("allow_opaque is set: any sandboxed frame or file may embed the server.")
    if project.config.env:
        texts.append(
            f"tool.mcpframe.env is in the bundle, where anybody can read it: {', '.join(sorted(project.config.env))}. "
            "Ask for secrets in a setup instead."
        )
    if project.config.csp.unsafe_eval:
        texts.append("csp.unsafe_eval is set: the page may run JavaScript from text.")
    texts += inline_code_warnings(files, styles_allowed="'unsafe-inline'" in project.config.csp.style_src)
    texts += trial_warnings(project.config)
    texts += name_warnings(files)
    texts += view_warnings(manifest["tools"] or ())
    texts += client_warnings(manifest["tools"] or (), manifest["name"])
    return tuple(texts)


def trial_warnings(config: McpframeConfig) -> list[str]:
    """Return a warning for each token of an origin trial that browsers ignore at the bundle's address."""
    origin = url_origin(config.url) if config.url else None
    return [
        f"tool.mcpframe.origin_trials: the token for {token.feature!r} {problem}, so browsers ignore it: "
        "get one for the origin at which the bundle is published."
        for token in map(read_token, config.origin_trials)
        for problem in token_problems(token, datetime.now(UTC), origin)
    ]


def name_warnings(paths: Iterable[str]) -> list[str]:
    """Return a warning for files of a page that not every system can have beside each other."""
    by_name: dict[str, list[str]] = {}
    for path in sorted(paths):
        by_name.setdefault(path.casefold(), []).append(path)
    texts = [
        f"{' and '.join(same)} differ only in case: on Windows and macOS one replaces the other. Rename one."
        for same in by_name.values()
        if len(same) > 1
    ]
    forbidden = [path for path in sorted(paths) if not _ON_WINDOWS.isdisjoint(path)]
    return texts + [f"Windows cannot have a file named {path!r}: rename it." for path in forbidden]


def view_warnings(tools: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return a warning for each tool that a model calls and whose view gets no structured result.

    Args:
        tools: as `tools/list` returns them. Whether a tool returns a text cannot be seen in them.
    """
    texts = []
    for tool in tools:
        ui = (tool.get("_meta") or {}).get("ui")
        if not isinstance(ui, Mapping) or not ui.get("resourceUri") or tool.get("outputSchema"):
            continue
        if "model" in (ui.get("visibility") or ["model"]):
            texts.append(
                f"The tool {tool['name']!r} has a view, but no output schema: some hosts show a view only with "
                "structuredContent. Annotate its return type, such as a dataclass or a model of pydantic, or "
                "Annotated[CallToolResult, Model] to write the text for the model, too."
            )
    return texts


def unseen_page_warnings(requirement: str | None, *, draws: bool) -> list[str]:
    """Return a warning for a page that is drawn but never shown.

    Args:
        requirement: of `[tool.mcpframe.visibility]`; None for the default.
        draws: whether the server has a function that draws its page.
    """
    if not draws or requirement != "hidden":
        return []
    text = (
        'The server draws a page (@server.ui), but visibility.requirement is "hidden": no host shows it. Write '
        '"optional", which is the default, or "required" for a page that has to be seen.'
    )
    return [text]


def _dialect_warnings(project: Project, origins: OriginEntries) -> list[str]:
    setting, opaque = project.config.dialects, project.config.options.allow_opaque
    texts = [
        f"allowed_origins.{name} names hosts, but tool.mcpframe.dialects leaves {name!r} out: they are not served."
        for name in without_use(setting, origins)
    ]
    if project.config.kind == "server" and (origins or opaque):
        texts += [
            f"tool.mcpframe.dialects has {name!r}, but no page may be its host: name some in allowed_origins.{name}."
            for name in without_hosts(setting, lists_of(setting, origins, opaque=opaque))
        ]
    return texts


def inline_code_warnings(files: Mapping[str, bytes], *, styles_allowed: bool) -> list[str]:
    """Return a warning for each HTML file of a page with inline styles or handlers.

    Args:
        files: The files of the page, by path.
        styles_allowed: Whether the policy allows inline styles.
    """
    texts = []
    for path, data in sorted(files.items()):
        if not path.endswith((".html", ".htm")):
            continue
        finder = _Finder()
        finder.feed(data.decode("utf-8", "replace"))
        if styles_allowed:
            del finder.counts[_STYLES]
        texts += [
            f"{path} has {count} {kind}, which the page's policy drops: {_INSTEAD[kind]}."
            for kind, count in sorted(finder.counts.items())
        ]
    return texts


class _Finder(HTMLParser):
    """Counts what the policy drops, by kind."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: Counter[str] = Counter()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "style":
            self.counts[_STYLES] += 1
        for name, _ in attrs:
            if name == "style":
                self.counts[_STYLES] += 1
            elif name.startswith("on"):
                self.counts[_HANDLERS] += 1
