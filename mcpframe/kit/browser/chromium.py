"""A Chromium to drive: found, installed when asked, and the way to launch it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

from mcpframe.kit.base.errors import ChromiumMissing, ToolFailed
from mcpframe.kit.base.programs import run_tool
from mcpframe.kit.base.progress import Progress, silent

_NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
    "microsoft-edge-stable",
)

_PLACES = {
    "darwin": (
        "/Applications/Chromium.app/Contents/MacOS/Chromium",
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
        "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    ),
    "win32": (
        r"%ProgramFiles%\Google\Chrome\Application\chrome.exe",
        r"%ProgramFiles(x86)%\Google\Chrome\Application\chrome.exe",
        r"%LocalAppData%\Google\Chrome\Application\chrome.exe",
        r"%LocalAppData%\Chromium\Application\chrome.exe",
        r"%ProgramFiles(x86)%\Microsoft\Edge\Application\msedge.exe",
    ),
}

# Where Playwright keeps its browsers unless PLAYWRIGHT_BROWSERS_PATH says otherwise.
_PLAYWRIGHT_CACHES = {"darwin": "~/Library/Caches/ms-playwright", "win32": "~/AppData/Local/ms-playwright"}

_ASK_PLAYWRIGHT = """\
from playwright.sync_api import sync_playwright
with sync_playwright() as playwright:
    print(playwright.chromium.executable_path)
"""

_OFF = (
    # What Chromium switches on in some browsers by chance, to learn who takes and frees memory. It looks for callers
    # beyond the end of the stack where WebAssembly has one of its own (JSPI, which Python runs coroutines on): the page
    # crashes.
    "GwpAsanMalloc",
    "GwpAsanPartitionAlloc",
    "LightweightUafDetector",
    "ExtremeLightweightUAFDetector",
    "HeapProfilerReporting",
    # The address bar's popups are pages: Chromium loads them for every new window, which takes two cores a second.
    "WebUIOmniboxPopup",
    "WebUIOmniboxAimPopup",
    "WebUIOmniboxFullPopup",
)

# Of this option a browser takes only the last one.
_OFF_BY_PLAYWRIGHT = (
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsUpgrades",
    "HttpsFirstBalancedModeAutoEnable",
    "LensOverlay",
    "MediaRouter",
    "PaintHolding",
    "ThirdPartyStoragePartitioning",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "TcpPortRandomizationWin",
    "OptimizationHints",
    "NetworkTimeServiceQuerying",
    "AimEnabled",
    "PreconnectToSearch",
    "msForceBrowserSignIn",
    "msEdgeUpdateLaunchServicesPreferredVersion",
)

_HOW = "install Chromium or Chrome, or set MCPFRAME_CHROMIUM to its program"


class LaunchOptions(TypedDict):
    """What Playwright's `chromium.launch(**options)` takes."""

    executable_path: str
    args: list[str]
    chromium_sandbox: bool


def find_chromium() -> Path | None:
    """Find a Chromium: `$MCPFRAME_CHROMIUM`, then Playwright's own, then the system's (Chromium, Chrome, Edge).

    Returns:
        The program, or None when there is none.

    Raises:
        ChromiumMissing: `$MCPFRAME_CHROMIUM` names something that is not a program.
    """
    chosen = os.environ.get("MCPFRAME_CHROMIUM")
    if chosen:
        program = shutil.which(chosen)
        if program is None:
            raise ChromiumMissing(
                f"MCPFRAME_CHROMIUM is {chosen!r}, which is not a program that can be run: correct it or unset it."
            )
        return Path(program)
    return _playwright_chromium() or _system_chromium()


def ensure_chromium(*, install: bool = False, progress: Progress = silent) -> Path:
    """Return a Chromium, installing one when there is none and `install` is set.

    It is installed with apt when this is root on Debian or Ubuntu, else with `playwright install chromium`.

    Raises:
        ChromiumMissing: There is none, and it may not or could not be installed.
    """
    found = find_chromium()
    if found is not None:
        return found
    if not install:
        raise ChromiumMissing(f"No Chromium was found: {_HOW}.")
    failures = []
    for name, commands in _installers():
        try:
            with progress(f"Installing Chromium with {name}"):
                for command in commands:
                    run_tool(
                        command, name, timeout=1800, environment=os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
                    )
        except ToolFailed as error:
            failures.append(str(error).rstrip("."))
        if found := find_chromium():
            return found
    raise ChromiumMissing(f"No Chromium was found and none could be installed ({'; '.join(failures)}): {_HOW}.")


def launch_options(executable: Path, *, off: Sequence[str] = _OFF_BY_PLAYWRIGHT) -> LaunchOptions:
    """The options to launch `executable` with through Playwright: quiet, and sandboxed wherever the sandbox works.

    Chromium refuses to start its sandbox as root; `MCPFRAME_NO_SANDBOX=1` turns it off elsewhere, for containers that
    do not allow it.

    Args:
        executable: The program.
        off: Chromium's features to switch off; by default those that Playwright does.
    """
    return {
        "executable_path": str(executable),
        "args": [
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            f"--disable-features={','.join((*off, *_OFF))}",
        ],
        "chromium_sandbox": not (_is_root() or os.environ.get("MCPFRAME_NO_SANDBOX") == "1"),
    }


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


def _playwright_chromium() -> Path | None:
    default = _PLAYWRIGHT_CACHES.get(sys.platform, "~/.cache/ms-playwright")
    cache = Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or default).expanduser()
    # Starting Playwright to ask takes half a second: only worth it when it has installed something.
    if not any(cache.glob("chromium-*")):
        return None
    try:
        program = Path(run_tool([sys.executable, "-c", _ASK_PLAYWRIGHT], "Playwright", timeout=60).strip())
    except ToolFailed:
        return None
    return program if program.is_file() else None


def _system_chromium() -> Path | None:
    for name in _NAMES:
        if program := shutil.which(name):
            return Path(program)
    for place in _PLACES.get(sys.platform, ()):
        path = Path(os.path.expandvars(place))
        if path.is_file():
            return path
    return None


def _installers() -> list[tuple[str, list[list[str]]]]:
    playwright = [[sys.executable, "-m", "playwright", "install", "chromium"]]
    installers = [("Playwright", playwright)]
    if _is_root() and shutil.which("apt-get"):
        update, install = ["apt-get", "update", "-q"], ["apt-get", "install", "-y", "-q", "--no-install-recommends"]
        installers.insert(0, ("apt-get", [update, [*install, "chromium"]]))
    return installers
