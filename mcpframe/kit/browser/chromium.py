"""Find or install a Chromium, and return its launch options and the address of its DevTools."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TypedDict

from mcpframe.kit.base.errors import BrowserGone, ChromiumMissing, ToolFailed
from mcpframe.kit.base.processes import python, run_tool, shell_text
from mcpframe.kit.base.progress import Progress, silent

_DEVTOOLS_SECONDS = 30.0
_DEVTOOLS_INTERVAL = 0.02

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

# Playwright's folders of browsers, unless PLAYWRIGHT_BROWSERS_PATH is set.
_PLAYWRIGHT_CACHES = {"darwin": "~/Library/Caches/ms-playwright", "win32": "~/AppData/Local/ms-playwright"}

_PLAYWRIGHT = ("-m", "playwright", "install", "chromium")
_ASK_PLAYWRIGHT = """\
from playwright.sync_api import sync_playwright
with sync_playwright() as playwright:
    print(playwright.chromium.executable_path)
"""

_OFF = (
    # Chromium enables these memory diagnostics at random in some browsers. They walk the stack beyond its end where
    # WebAssembly has a stack of its own (JSPI, on which Python runs coroutines), and the page crashes.
    "GwpAsanMalloc",
    "GwpAsanPartitionAlloc",
    "LightweightUafDetector",
    "ExtremeLightweightUAFDetector",
    "HeapProfilerReporting",
    # The address bar's popups are pages that Chromium loads for every new window: a second on two cores.
    "WebUIOmniboxPopup",
    "WebUIOmniboxAimPopup",
    "WebUIOmniboxFullPopup",
)

# A browser honours only the last `--disable-features`, so Playwright's own are repeated.
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

HOW = "install Chromium or Chrome, or set MCPFRAME_CHROMIUM to its program"


def _ways() -> str:
    """Return how to get a Chromium: by a command that works wherever this Python is, if it can, or by other means."""
    return f"run `{shell_text([sys.executable, *_PLAYWRIGHT])}`, {HOW}" if _has_playwright() else HOW


def _has_playwright() -> bool:
    return find_spec("playwright") is not None


class LaunchOptions(TypedDict):
    """The arguments of Playwright's `chromium.launch(**options)`."""

    executable_path: str
    args: list[str]
    chromium_sandbox: bool


def find_chromium() -> Path | None:
    """Find a Chromium: `$MCPFRAME_CHROMIUM`, then Playwright's own, then the system's (Chromium, Chrome, Edge).

    Returns:
        The program; None if none is found.

    Raises:
        ChromiumMissing: `$MCPFRAME_CHROMIUM` is not a program.
    """
    chosen = os.environ.get("MCPFRAME_CHROMIUM")
    if chosen:
        program = shutil.which(chosen)
        if program is None:
            raise ChromiumMissing(
                f"MCPFRAME_CHROMIUM is {chosen!r}, which is not an executable program: correct it or unset it."
            )
        return Path(program)
    return _playwright_chromium() or _system_chromium()


def ensure_chromium(*, install: bool = False, progress: Progress = silent) -> Path:
    """Return the program of a Chromium; install one if there is none and `install` is set.

    As root on Debian or Ubuntu it is installed with apt, else with `playwright install chromium`.

    Raises:
        ChromiumMissing: There is none, and `install` is not set or the installation failed.
    """
    chromium = find_chromium()
    if chromium is not None:
        return chromium
    if not install:
        raise ChromiumMissing(f"No Chromium was found: {_ways()}.")
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
        if chromium := find_chromium():
            return chromium
    tried = f" ({'; '.join(failures)})" if failures else ""
    raise ChromiumMissing(f"No Chromium was found and none could be installed{tried}: {HOW}.")


def set_third_party_storage(profile: Path, *, allowed: bool) -> None:
    """Write the preferences of a new profile: whether pages that another site frames have storage.

    It is allowed by default in Chrome, and not in Debian's Chromium.

    Args:
        profile: The folder of the profile, which need not exist.
    """
    folder = profile / "Default"
    folder.mkdir(parents=True)
    chosen = {"cookie_controls_mode": int(not allowed), "block_third_party_cookies": not allowed}
    (folder / "Preferences").write_text(json.dumps({"profile": chosen}), "utf-8", newline="\n")


def launch_options(executable: Path, *, off: Sequence[str] = _OFF_BY_PLAYWRIGHT) -> LaunchOptions:
    """Return the options to launch `executable` through Playwright: no background work, and sandboxed if possible.

    Chromium's sandbox does not run as root. `MCPFRAME_NO_SANDBOX=1` disables it, for containers that do not allow it.

    Args:
        off: The features to disable; by default those that Playwright disables.
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


def has_display() -> bool:
    """Return whether a browser can show windows here."""
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


async def devtools_address(profile: Path) -> str:
    """Return the address of the DevTools of a Chromium that runs with `--remote-debugging-port=0`.

    Chromium chooses the port and writes it into its profile, perhaps only after it answers to Playwright.

    Args:
        profile: the folder of its profile, which no earlier Chromium has used.

    Raises:
        BrowserGone: It has chosen no port after half a minute.
    """
    try:
        async with asyncio.timeout(_DEVTOOLS_SECONDS):
            while True:
                with suppress(OSError, IndexError, ValueError):  # not there yet, or empty
                    text = (profile / "DevToolsActivePort").read_text("utf-8")
                    return f"http://127.0.0.1:{int(text.splitlines()[0])}"
                await asyncio.sleep(_DEVTOOLS_INTERVAL)  # another program writes the file, without an event
    except TimeoutError:
        raise BrowserGone(f"Chromium has not written the port of its DevTools into {profile}: try again.") from None


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


def _playwright_chromium() -> Path | None:
    default = _PLAYWRIGHT_CACHES.get(sys.platform, "~/.cache/ms-playwright")
    cache = Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or default).expanduser()
    # Asking Playwright takes half a second, so only if it has installed a browser.
    if not any(cache.glob("chromium-*")) or not _has_playwright():
        return None
    try:
        program = Path(run_tool(python("-c", _ASK_PLAYWRIGHT), "Playwright", timeout=60).strip())
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
    installers = [("Playwright", [python(*_PLAYWRIGHT)])] if _has_playwright() else []
    if _is_root() and shutil.which("apt-get"):
        update, install = ["apt-get", "update", "-q"], ["apt-get", "install", "-y", "-q", "--no-install-recommends"]
        installers.insert(0, ("apt-get", [update, [*install, "chromium"]]))
    return installers
