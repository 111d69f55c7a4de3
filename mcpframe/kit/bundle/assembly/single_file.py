"""A built bundle as one page that fetches nothing: its files are in it, or the page that frames it hands them over.

`static/page/handed.js` is the other half. The policy of such a page has no addresses of its own: it names its scripts
and styles by their hashes, and allows blobs where the page's own files are read.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import unescape
from posixpath import join, normpath, relpath
from typing import Any

from mcpframe.kit.base.errors import BuildError
from mcpframe.kit.bundle.assembly.assets import integrity
from mcpframe.kit.bundle.assembly.built_manifest import MANIFEST
from mcpframe.kit.bundle.assembly.index_page import INBOX, Handed, boot_of, render_page
from mcpframe.kit.bundle.assembly.installable import FILES as INSTALLABLE
from mcpframe.kit.bundle.assembly.page_scripts import handed_script, inbox_script
from mcpframe.kit.bundle.assembly.view_files import FILES, STARTER
from mcpframe.kit.bundle.pyodide.archive import Files
from mcpframe.views.csp import policy_text

_POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">')
_STYLE = re.compile(r'<link rel="stylesheet" href="([^"]*)"')
_SANDBOX = '<meta name="mcpframe-sandbox"'
_OWN_FILES = ("connect-src", "img-src", "font-src", "media-src")
"""The directives for files that the page reads."""
_FIRST_OTHER = "'wasm-unsafe-eval'"
"""In `script-src`, what follows the sources that are the bundle's own address."""
_MODULES = (".js", ".mjs")
_RELATIVE_IMPORT = re.compile(r"""(?:\bfrom|\bimport)\s*\(?\s*["'](\.{0,2}/[^"'\n]*)["']""")
_RELATIVE_STYLE = re.compile(
    r"""(?:url\(\s*["']?|@import\s+["'])(?!["']?(?:data:|https?:|blob:|#))([^"')\s]+)""", re.IGNORECASE
)
_KINDS = {
    "css": "text/css",
    "gif": "image/gif",
    "html": "text/html",
    "jpeg": "image/jpeg",
    "jpg": "image/jpeg",
    "js": "text/javascript",
    "json": "application/json",
    "mjs": "text/javascript",
    "mp3": "audio/mpeg",
    "mp4": "video/mp4",
    "png": "image/png",
    "svg": "image/svg+xml",
    "txt": "text/plain",
    "wasm": "application/wasm",
    "webm": "video/webm",
    "webp": "image/webp",
    "woff2": "font/woff2",
}
"""The types of files by their endings, the same on every machine."""


def single_file(name: str, files: Files, packed: Mapping[str, bytes | None]) -> bytes:
    """Return a page that has all files of a bundle in it.

    Args:
        name: The bundle's folder.
        files: Its files and its manifest, by path below the output root.
        packed: The files as gzip, by path; None for those that are stored as they are.

    Raises:
        BuildError: A file refers to another by its address, or the page needs another page of its own.
    """
    page = _Page(name, files)
    stored = [_stored(url, files[path], packed.get(path)) for url, path in page.handed.items()]
    return page.render(Handed("document", page.styles, stored))


def framed_page(name: str, files: Files) -> tuple[bytes, dict[str, str]]:
    """Return a page whose parent hands over the files, and their paths below the output root, by URL.

    Raises:
        BuildError: As for `single_file`.
    """
    page = _Page(name, files)
    return page.render(Handed("parent", page.styles)), page.handed


def script_hashes(boot: Mapping[str, Any], inline: Iterable[str]) -> list[str]:
    """Return the sources of a policy for the scripts of such a page.

    Args:
        boot: Its boot config.
        inline: The texts of its inline scripts.
    """
    files = (boot["files"][name]["integrity"] for name in ("loader", "pyodide", "asm"))
    return [f"'{each}'" for each in (*(integrity(text.encode()) for text in inline), *files)]


@dataclass(frozen=True)
class _Page:
    """The page of a built bundle.

    Attributes:
        name: The bundle's folder.
        files: Its files and its manifest, by path below the output root.
    """

    name: str
    files: Files

    def __post_init__(self) -> None:
        self._check()

    @property
    def text(self) -> str:
        return self._index.decode()

    @property
    def styles(self) -> list[str]:
        """The texts of its style sheets, as a `style` element holds them."""
        # In CSS an escaped slash is a slash.
        return [self._read(url).decode().replace("</", "<\\/") for url in map(unescape, _STYLE.findall(self.text))]

    @property
    def handed(self) -> dict[str, str]:
        """The paths of the files that it reads, and of the licences, by URL."""
        folder = f"{self.name}/"
        left_out = {f"{folder}{path}" for path in ("index.html", STARTER, *FILES.values(), *INSTALLABLE)}
        manifest = json.loads(self.files[f"{folder}{MANIFEST}"])
        paths = [entry["path"] for entry in manifest["files"] if entry["path"] not in left_out]
        return {relpath(path, self.name): path for path in (*paths, f"{folder}{MANIFEST}")}

    def render(self, handed: Handed) -> bytes:
        """Return the page."""
        boot = {**self._boot, "manifest": {"url": MANIFEST}}
        inbox = INBOX.search(self._index)
        return render_page(
            title=boot["title"],
            csp=self._policy(handed.styles, inline=[*([inbox_script()] if inbox else []), handed_script()]),
            generator=boot["version"],
            boot=boot,
            inbox=json.loads(inbox[2]) if inbox else None,
            worker=boot.get("runs_in") == "worker",
            handed=handed,
        )

    @property
    def _index(self) -> bytes:
        return self.files[f"{self.name}/index.html"]

    @property
    def _boot(self) -> dict[str, Any]:
        return boot_of(self._index)

    @property
    def _assets(self) -> dict[str, bytes]:
        """The author's files for the page, by path."""
        assets = self._boot["assets"]
        return {path: self._read(assets["base"] + path) for path in assets["files"]}

    def _read(self, url: str) -> bytes:
        return self.files[normpath(join(self.name, url))]

    def _policy(self, styles: Iterable[str], inline: Iterable[str]) -> str:
        match = _POLICY.search(self.text)
        assert match is not None
        directives = {name: sources for name, *sources in (part.split() for part in unescape(match[1]).split(";"))}
        scripts = directives["script-src"]
        own = set(scripts[: scripts.index(_FIRST_OTHER)])
        blobs = ["blob:"] if any(path.endswith(_MODULES) for path in self._assets) else []
        others = [each for each in scripts if each not in own and not each.startswith("'sha256-")]
        directives["script-src"] = [*others, *script_hashes(self._boot, inline), *blobs]
        for name in ("style-src", *_OWN_FILES):
            directives[name] = [each for each in directives[name] if each not in own and each != "'none'"]
        for name in _OWN_FILES:
            directives[name].append("blob:")
        if directives.pop("manifest-src", None):  # such a page is not installed: it has no addresses
            directives["worker-src"].remove("'self'")
        if "'unsafe-inline'" not in directives["style-src"]:  # which a hash would end
            directives["style-src"] += [f"'{integrity(text.encode())}'" for text in styles]
        return policy_text(directives)

    def _check(self) -> None:
        """Raise BuildError where the page needs addresses of its own."""
        if _SANDBOX in self.text:
            raise BuildError(
                f"{self.name} shows views in a page at another origin (sandbox_origin), which a single file cannot be: "
                "build it without --single-file."
            )
        wrong = _relative(self._assets)
        if wrong:
            more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
            raise BuildError(
                f"{wrong[0]}{more}, and a single file has no addresses: bundle the file with what it refers to, or "
                "build without --single-file."
            )


def _relative(assets: Mapping[str, bytes]) -> Sequence[str]:
    """Return a sentence on each of the author's files that refers to another by its address."""
    patterns = {"css": _RELATIVE_STYLE, "js": _RELATIVE_IMPORT, "mjs": _RELATIVE_IMPORT}
    addresses = []
    for path, data in sorted(assets.items()):
        pattern = patterns.get(path.rpartition(".")[2])
        if pattern and (match := pattern.search(data.decode("utf-8", "replace"))):
            addresses.append(f"{path} refers to {match[1]!r} by its address")
    return addresses


def _stored(url: str, data: bytes, packed: bytes | None) -> dict[str, Any]:
    kind = _KINDS.get(url.rpartition(".")[2].lower(), "application/octet-stream")
    text = base64.b64encode(packed or data).decode()
    return {"url": url, "kind": kind, "packed": packed is not None, "text": text}
