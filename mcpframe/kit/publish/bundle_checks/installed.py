"""Checks of a page that can be installed: the web server's policy, and a visit in a tab of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin

from mcpframe.kit.browser.devtools.browsers import OpenTab
from mcpframe.kit.browser.devtools.driven_page import DevToolsPage
from mcpframe.kit.browser.page_window import PageGone
from mcpframe.kit.client.session import session_browser
from mcpframe.kit.publish.bundle_checks.embedding import directives_of
from mcpframe.kit.publish.bundle_checks.findings import HEADERS, Finding, error, warning

SUBJECT = "installed page"
_WORKING = "navigator.serviceWorker?.ready.then(({ active }) => active?.scriptURL)"
_BEGINS = 10.0  # seconds after its load in which a page starts its service worker: `static/page/register.js`
_SAID = {
    "no-manifest": "it finds no web app manifest",
    "cannot-download-icon": "an icon cannot be fetched",
    "no-acceptable-icon": "no icon is large enough",
    "not-from-secure-origin": "its address is not https",
}
"""The meanings of Chromium's reasons that a web server can cause."""
_NO_MATTER = frozenset({"in-incognito"})


@dataclass(frozen=True)
class OfflineFiles:
    """The files of an installed page that work offline.

    Attributes:
        files: The number of files.
        size: Their bytes.
    """

    files: int
    size: int

    def __str__(self) -> str:
        return f"{self.files} files, {self.size / 1e6:.1f} MB"


def offline_files(manifest: Mapping[str, Any]) -> OfflineFiles | None:
    """Return the files that work offline in a bundle's page; None if it is not installable."""
    if not (installable := manifest.get("installable")):
        return None
    kept = set(installable["kept"])
    return OfflineFiles(len(kept), sum(entry["bytes"] for entry in manifest["files"] if entry["path"] in kept))


def check_installable(headers: Mapping[str, str]) -> Iterator[Finding]:
    """Check the headers of a page that can be installed. What its address has to be, other checks say.

    Args:
        headers: Those of the response, by lower-case name.
    """
    policy = headers.get("content-security-policy")
    if policy is None:
        return
    directives = directives_of(policy)
    for name, above, needs in (
        ("worker-src", ("child-src", "script-src", "default-src"), "its service worker"),
        ("manifest-src", ("default-src",), "its web app manifest"),
    ):
        sources = next((directives[each] for each in (name, *above) if each in directives), None)
        if sources is not None and not {"'self'", "*"} & set(sources):
            yield error(
                SUBJECT,
                f"The header Content-Security-Policy keeps the page from {needs}: {name} lacks 'self'.",
                f"Send the policy in the manifest's csp: {HEADERS}.",
            )


async def visit_alone(url: str, manifest: Mapping[str, Any], *, patience: float) -> tuple[Finding, ...]:
    """Visit a page in a tab of its own, until its service worker has all files.

    Args:
        url: The page's address.
        manifest: The bundle's manifest.
        patience: Seconds for the page to load, and again for its worker.

    Raises:
        ChromiumMissing: No browser is installed.
        BrowserGone: The browser does not start.
        ToolFailed: It has ended meanwhile.
    """
    async with session_browser() as browser:
        page = DevToolsPage(OpenTab(browser.devtools, await browser.new_tab()))
        async with page.opening():
            await page.command("Page.enable")
        try:
            async with asyncio.timeout(patience):
                await page.navigate(url)
            answer = await page.command("Page.getInstallabilityErrors")
            reasons = [each["errorId"] for each in answer["installabilityErrors"] if each["errorId"] not in _NO_MATTER]
            async with asyncio.timeout(_BEGINS + patience):
                worker = await page.evaluate(_WORKING)
        except (TimeoutError, PageGone) as problem:
            what = str(problem).partition("\n")[0] or f"its service worker has not begun within {patience:g} s"
            return (
                warning(
                    SUBJECT,
                    f"It does not work without a network ({what.rstrip('.')}).",
                    "Open the page in a tab and read its console, and Application > Service workers of the browser's "
                    "developer tools: each of its files has to be the one that was built.",
                ),
            )
        finally:
            await page.close()
    return tuple(_problems(url, manifest, reasons, worker))


def _problems(url: str, manifest: Mapping[str, Any], reasons: list[str], worker: str | None) -> Iterator[Finding]:
    if reasons:
        words = ", ".join(_SAID.get(each, each) for each in reasons)
        yield warning(
            SUBJECT,
            f"Chromium would not install it: {words}.",
            "Upload the whole folder that was built, and serve it over https.",
        )
    own = urljoin(url, manifest["installable"]["worker"])
    if worker != own:
        yield warning(
            SUBJECT,
            f"Another service worker, {worker}, is in its place." if worker else "This browser has no service worker.",
            "Let no other page of the site register one whose scope has this page, and serve the page over https.",
        )
