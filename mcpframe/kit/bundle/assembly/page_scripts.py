"""The scripts of a framed page, from `static`: each is one file when a page loads it, as each request delays the start.

`static/page/loader.js` and the modules it imports are bundled by esbuild into `static/page/bundled/loader.js`; so are
`inbox-start.js`, `prefetch-start.js`, `handed-start.js`, `inline.js`, `register.js` and `offline.js`.
`python3 build.py scripts` writes them; see `kit.base.bundled_scripts`.
"""

from __future__ import annotations

from pathlib import Path

from mcpframe.kit.base.bundled_scripts import bundled_script
from mcpframe.kit.base.data import page_dir, static_dir

BUNDLED = "bundled/loader.js"
"""The page's bundled script, in `static/page`."""
BUNDLED_INBOX = "bundled/inbox.js"
"""The inline script of a server's page, which runs before all others."""
BUNDLED_PREFETCH = "bundled/prefetch.js"
"""The inline script of a page with a snapshot, which starts its downloads."""
BUNDLED_HANDED = "bundled/handed.js"
"""The inline script of a page whose files are in it, or come from its parent."""
BUNDLED_INLINE = "bundled/inline.js"
"""The script that starts a server's page in a view's own document."""
BUNDLED_REGISTER = "bundled/register.js"
"""The inline script of a page that can be installed: it starts the service worker."""
BUNDLED_OFFLINE = "bundled/offline.js"
"""The service worker, without its files."""
SOURCES = {
    BUNDLED: "page/loader.js",
    BUNDLED_INBOX: "page/inbox-start.js",
    BUNDLED_PREFETCH: "page/prefetch-start.js",
    BUNDLED_HANDED: "page/handed-start.js",
    BUNDLED_INLINE: "page/inline.js",
    BUNDLED_REGISTER: "page/register.js",
    BUNDLED_OFFLINE: "page/offline.js",
}
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
    return bundled_script(f"page/{BUNDLED}").encode()


def inbox_script() -> str:
    """Return the inline script of a server's page; see `loader_script`."""
    return bundled_script(f"page/{BUNDLED_INBOX}")


def prefetch_script() -> str:
    """Return the inline script of a page with a snapshot; see `loader_script`."""
    return bundled_script(f"page/{BUNDLED_PREFETCH}")


def handed_script() -> str:
    """Return the inline script of a page whose files are handed to it; see `loader_script`."""
    return bundled_script(f"page/{BUNDLED_HANDED}")


def register_script() -> str:
    """Return the inline script of a page that can be installed; see `loader_script`."""
    return bundled_script(f"page/{BUNDLED_REGISTER}")


def offline_script() -> str:
    """Return the service worker, which needs the names of its files; see `loader_script`."""
    return bundled_script(f"page/{BUNDLED_OFFLINE}")


def inline_script() -> bytes:
    """Return the script that starts a server's page in a view's own document; see `loader_script`."""
    return bundled_script(f"page/{BUNDLED_INLINE}").encode()


def snapshot_maker_script() -> bytes:
    """Return the script that takes a snapshot. It imports nothing."""
    return (static_dir() / "build" / SNAPSHOT_MAKER).read_bytes()
