"""Pages for the hub's tests: a page server of npm's `@mcp-b/transports`, and tools of `@mcp-b/webmcp-polyfill`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.async_api import Frame, Page

from mcpframe.kit.web.serve import serve_folder
from tests.browser.mcpb import bundle_peers
from tests.browser.webmcp import polyfill_text
from tests.contract.playing import POLL

_HEAD = '<!doctype html>\n<meta charset="utf-8">\n<link rel="icon" href="data:,">\n'

_SHOP = """<title>A shop</title>
<script type="module">
import "./mcpb_page.js";
const server = mcpb.servers[await mcpb.serve("tab", ["*"])];
server.registerTool("cart", { description: "The cart", annotations: { cache: true } }, () => ({
  content: [{ type: "text", text: "an empty cart" }],
}));
document.title = "Served";
</script>
"""

_BOARD = """<title>A board</title>
<script src="polyfill.js"></script>
<script type="module">
const register = (name, execute) =>
  document.modelContext.registerTool({ name, description: `D ${name}`, inputSchema: { type: "object" }, execute });
document.documentElement.dataset.polyfill = String("__isWebMCPPolyfill" in document.modelContext);
globalThis.calls = [];
await register("note", ({ text }) => { calls.push(text); return `noted ${text}`; });
await register("hang", () => new Promise(() => {}));
await register("more", async () => { await register("late", () => "late"); return "more"; });
await register("fail", () => { throw new Error("no luck"); });
document.title = "Served";
</script>
"""

_FRAMES = """<title>Frames</title>
<script type="module" src="mcpb_page.js"></script>
<body></body>
"""


_WAITS = "mcpb.posted.filter(({ payload }) => payload?.params?.name === 'wait').length"


async def waits(page: Page | Frame) -> int:
    """Return how many calls of the tool `wait` a page, or a frame, has got."""
    return int(await page.evaluate(_WAITS))


async def has_waits(page: Page | Frame, count: int) -> None:
    """Wait until a page, or a frame, has got so many calls of `wait`: what comes next happens in mid-call."""
    await page.wait_for_function(f"{_WAITS} >= {count}", polling=POLL)


class Site:
    """The pages, at one port and as many origins as a test wants.

    Attributes:
        folder: Their files.
    """

    def __init__(self, port: int, folder: Path) -> None:
        self.port = port
        self.folder = folder

    def origin(self, name: str) -> str:
        return f"http://{name}.localhost:{self.port}"

    def shop(self, name: str = "shop") -> str:
        return f"{self.origin(name)}/shop.html"

    def board(self, name: str = "board") -> str:
        return f"{self.origin(name)}/board.html"


@contextmanager
def hub_site(folder: Path) -> Iterator[Site]:
    """Serve the pages."""
    bundle_peers(folder)
    (folder / "polyfill.js").write_text(polyfill_text(), "utf-8")
    (folder / "shop.html").write_text(_HEAD + _SHOP, "utf-8")
    (folder / "board.html").write_text(_HEAD + _BOARD, "utf-8")
    (folder / "frames.html").write_text(_HEAD + _FRAMES, "utf-8")
    with serve_folder(folder) as served:
        yield Site(served.port, folder)
