"""`mcpframe dev`: from a saved file to a session that is connected again, in its host page and in the inspector."""

from __future__ import annotations

import tempfile
import threading
import time
from contextlib import ExitStack
from pathlib import Path

from playwright.sync_api import Page

from mcpframe.kit.dev.inspector import serve_inspector
from mcpframe.kit.dev.reload_channel import DevChannel
from mcpframe.kit.dev.server import serve_dev
from mcpframe.kit.project.scaffold import scaffold
from tests.benchmarks.browser import BenchmarkBrowser, host_page
from tests.benchmarks.figures import Figure
from tests.benchmarks.samples import take_turns

HOST, INSPECTOR = "host page", "inspector"

# A rebuild takes a frame to about:blank and back, on which the driver of Playwright 1.65 may crash if frames have
# processes of their own.
_FLAGS = ("--disable-site-isolation-trials",)

# What is seen of a session that is connected, and whose tools were asked for.
_SHOWS = {
    HOST: """name => document.documentElement.dataset.state === "ready"
        && document.querySelector("#tools").textContent === name""",
    INSPECTOR: """name => document.querySelector(".insp-state")?.dataset.state === "connected"
        && [...document.querySelectorAll("nav[aria-label=Tools] button")].map((b) => b.textContent).join() === name""",
}


def measure_dev(browser: BenchmarkBrowser, rounds: int) -> list[Figure]:
    """The figures about development: of a new project, without requirements.

    Args:
        browser: The browser.
        rounds: How many changes each page is to follow.
    """
    channel = DevChannel()
    with tempfile.TemporaryDirectory(prefix="mcpframe-bench-") as folder, ExitStack() as stack:
        project = scaffold("adder", parent=Path(folder))
        inspecting = stack.enter_context(serve_inspector(rebuilds=channel))
        server = stack.enter_context(serve_dev(project, also=(inspecting.origin,), channel=channel))
        assert server.server_url, server.first_error
        thread = threading.Thread(target=server.watch, args=(lambda *_: None,))
        thread.start()
        stack.callback(thread.join)
        stack.callback(server.stop)
        pages = {HOST: server.url, INSPECTOR: inspecting.url_with(server.server_url)}
        samples = {kind: _followed(browser, url, kind, project / "server.py", rounds) for kind, url in pages.items()}
    return [Figure.of_times(f"mcpframe dev, save → connected again, {kind}", samples[kind], 500) for kind in pages]


def _followed(browser: BenchmarkBrowser, url: str, kind: str, file: Path, rounds: int) -> list[float]:
    """Open a page, change the server, and give how many milliseconds each change took to be seen."""
    with browser.profile(flags=_FLAGS) as context, host_page(context, url) as host:
        before = file.read_text().partition("def ")[2].partition("(")[0]
        host.page.wait_for_function(_SHOWS[kind], arg=before)
        count = 0

        def change(_: str) -> float:
            nonlocal count
            count += 1
            return _change(host.page, kind, file, f"{before}_{count}")

        samples: list[float] = take_turns((kind,), rounds, change, warm_up=2)[kind]
        _change(host.page, kind, file, before)
    return samples


def _change(page: Page, kind: str, file: Path, name: str) -> float:
    source = file.read_text()
    before = source.partition("def ")[2].partition("(")[0]
    changed = source.replace(f"def {before}(", f"def {name}(")
    start = time.perf_counter()
    file.write_text(changed)
    page.wait_for_function(_SHOWS[kind], arg=name)
    return (time.perf_counter() - start) * 1000
