"""The run origin of a playground: each project's server runs at an origin of its own, under a name with a wildcard.

    the site      https://play.example                  the playground
    a run         https://9f2c….run.example             the page that this module writes, the same at each name

That page is static. It takes the server's page, and its files, from the site by messages, of the site's origin only.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from mcpframe.frame.core.allowed_origins import parse_origin
from mcpframe.kit.base.data import static_dir
from mcpframe.kit.bundle.assembly.assets import integrity
from mcpframe.kit.bundle.assembly.index_page import boot_of
from mcpframe.kit.bundle.assembly.page_scripts import handed_script, inbox_script
from mcpframe.kit.bundle.assembly.single_file import script_hashes

_PATTERN = re.compile(r"(https?)://\*\.([^*/]+)")
_LABEL = "a" * 32
"""Stands for the labels that `static/playground/home.js` makes."""


@dataclass(frozen=True)
class RunOrigin:
    """Where servers run.

    Attributes:
        pattern: The origins of runs, with `*` for the first label.
        site: The origin of the playground.
    """

    pattern: str
    site: str


def parse_run_origin(pattern: str, site: str | None) -> RunOrigin:
    """Return the run origin of two options.

    Raises:
        ValueError: One is missing or no such origin; or the site is one of the runs' origins, or would share cookies
            with them.
    """
    if site is None:
        raise ValueError(
            "--run-origin needs --site-origin, the origin of the playground, such as https://play.example."
        )
    found = _PATTERN.fullmatch(pattern)
    if found is None:
        raise ValueError(f"--run-origin {pattern}: write it as https://*.run.example, with * for the first label.")
    scheme, rest = found.groups()
    own = parse_origin(site)
    example = parse_origin(f"{scheme}://{_LABEL}.{rest}")
    if scheme == "http" and example.partition("://")[2].partition(":")[0].rpartition(".")[2] != "localhost":
        raise ValueError(f"--run-origin {pattern}: over http, browsers run nothing there but at names of localhost.")
    domain = example.partition(".")[2].partition(":")[0]
    host = own.partition("://")[2].partition(":")[0]
    if host == domain or host.endswith(f".{domain}"):
        raise ValueError(f"--run-origin {pattern}: a server there could set cookies for {own}: choose another domain.")
    return RunOrigin(pattern, own)


def frame_sources(run: RunOrigin | None) -> list[str]:
    """Return the sources of `frame-src` of the playground's policy: the inspector, and what runs at another origin."""
    return ["'self'", *([] if run is None else [run.pattern])]


def policy_of_servers(page: bytes, own: Sequence[str] = ()) -> dict[str, list[str]]:
    """Return the policy that servers have besides their own, by directive.

    Args:
        page: The text of `framed.html`.
        own: Further sources of all but images and sounds, for the playground itself.
    """
    hashes = script_hashes(boot_of(page), [inbox_script(), handed_script()])
    return {
        "default-src": ["'none'"],
        "script-src": [*own, "'wasm-unsafe-eval'", "blob:", *hashes],
        "style-src": [*own, "'unsafe-inline'"],  # the editor's, and those of servers' pages
        "connect-src": [*own, "blob:"],
        "img-src": [*own, "data:", "blob:"],
        "font-src": [*own, "blob:"],
        "media-src": ["data:", "blob:"],
        "worker-src": [*own, "blob:"],
        "base-uri": ["'none'"],
        "form-action": ["'none'"],
        "frame-src": ["'none'"],
    }


def policy_text(directives: dict[str, list[str]]) -> str:
    """Return the text of a policy."""
    return "; ".join(f"{name} {' '.join(sources)}" for name, sources in directives.items())


def write_run_page(run: RunOrigin, page: bytes, folder: Path) -> None:
    """Write the page for the run origin.

    Args:
        run: The run origin.
        page: The text of the playground's `framed.html`.
        folder: The folder to publish there.
    """
    script = (static_dir() / "playground" / "waiting.js").read_text("utf-8")
    text = (static_dir() / "playground" / "waiting.html").read_text("utf-8")
    policy = policy_of_servers(page)
    policy["script-src"].append(f"'{integrity(script.encode())}'")
    # The policy comes last: its hashes might have these words in them.
    text = text.replace("SITE", escape(run.site)).replace("SCRIPT", script)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "index.html").write_text(text.replace("POLICY", escape(policy_text(policy))), "utf-8", newline="\n")
    # A policy in the page can't say who may frame it.
    headers = f"/*\n  Content-Security-Policy: frame-ancestors {run.site}\n  X-Content-Type-Options: nosniff\n"
    (folder / "_headers").write_text(headers, "utf-8", newline="\n")
