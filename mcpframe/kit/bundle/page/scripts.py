"""The scripts of a framed page, from `static`: each is one file when a page loads it, as each request delays the start.

`static/page/loader.js` and the modules it imports are bundled by esbuild into `static/page/bundled/loader.js`; so are
`inbox-start.js` and `inline.js`. The results are in the repository: neither a build nor an installed mcpframe needs
esbuild. Their first line is a comment with the sources and their hash, which detects an outdated script.
`mcpframe.kit.publish.page_script` writes them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

from mcpframe.kit.base.data import page_dir, static_dir
from mcpframe.kit.base.errors import KitError

BUNDLED = "bundled/loader.js"
"""The page's bundled script, in `static/page`."""
BUNDLED_INBOX = "bundled/inbox.js"
"""The inline script of a server's page, which runs before all others."""
BUNDLED_INLINE = "bundled/inline.js"
"""The script that starts a server's page in a view's own document."""
SOURCES = {BUNDLED: "page/loader.js", BUNDLED_INBOX: "page/inbox-start.js", BUNDLED_INLINE: "page/inline.js"}
"""The modules from which they are bundled, in `static`."""
SNAPSHOT_MAKER = "snapshot-maker.js"
"""The script of the page in which a build takes a snapshot, in `static/build`."""


def source_files() -> list[Path]:
    """Return every static file that a build depends on."""
    folders = (page_dir(), page_dir() / "bundled", static_dir() / "build")
    return [path for folder in folders for path in sorted(folder.iterdir()) if path.is_file()]


def loader_script() -> bytes:
    """Return the page's script.

    Raises:
        KitError: It is missing, or its sources have changed since it was bundled.
    """
    return _bundled(BUNDLED)


def inbox_script() -> str:
    """Return the inline script of a server's page; see `loader_script`."""
    return _bundled(BUNDLED_INBOX).decode()


def inline_script() -> bytes:
    """Return the script that starts a server's page in a view's own document; see `loader_script`."""
    return _bundled(BUNDLED_INLINE)


def _bundled(name: str) -> bytes:
    path = page_dir() / name
    try:
        first, _, script = path.read_text("utf-8").partition("\n")
        record = json.loads(first.removeprefix("//"))
        current = sources_hash(record["sources"])
    except (OSError, ValueError, LookupError, TypeError):
        current, record = "", {}
    if current != record.get("sha256"):
        raise KitError(
            f"{path} does not fit the scripts beside it: run `python3 build.py scripts`, which bundles them."
        )
    return script.encode()


def with_record(script: str, sources: Iterable[str]) -> str:
    """Return the text of the bundled file.

    Args:
        script: The output of esbuild.
        sources: The bundled files, relative to `static`.
    """
    names = sorted(sources)
    record = json.dumps({"sources": names, "sha256": sources_hash(names)})
    return f"// {record}\n{script}"


def sources_hash(names: Iterable[str]) -> str:
    """Return one hash of files in `static`, which does not depend on their line endings."""
    texts = [(static_dir() / name).read_text("utf-8") for name in names]
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def snapshot_maker_script() -> bytes:
    """Return the script that takes a snapshot. It imports nothing."""
    return (static_dir() / "build" / SNAPSHOT_MAKER).read_bytes()
