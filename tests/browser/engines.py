"""Browsers other than Chromium, each by the driver that it comes with."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any, Protocol

from tests.browser.firefox import PATIENCE, ensure_firefox, running
from tests.browser.webkit import ensure_webkit, running_webkit


class Engine(Protocol):
    """A browser with one tab.

    Attributes:
        version: The browser's version.
        group: The number of the process group of all its processes.
    """

    version: str
    group: int

    def open(self, url: str) -> None:
        """Open a page."""

    def back(self) -> None:
        """Go back to the page before."""

    def run(self, script: str, *frames: str) -> Any:
        """Run the body of an async function in it, or in the frame that these selectors lead to."""


@dataclass(frozen=True)
class Kind:
    """A browser that this machine may have.

    Attributes:
        name: Its name in tests.
        title: Its name for readers.
        package: The package that has it.
    """

    name: str
    title: str
    package: str

    def find(self) -> str | None:
        """Find its program; root on Debian installs it. None if there is none."""
        return ensure_firefox() if self.name == "firefox" else ensure_webkit()

    def running(
        self, program: str, profile: Path, settings: Mapping[str, object] | None = None
    ) -> AbstractContextManager[Engine]:
        """Run it with a fresh profile for the duration of the block.

        Args:
            program: Its program.
            profile: The folder of the profile.
            settings: Preferences of Firefox.
        """
        if self.name == "firefox":
            return running(program, profile, settings=settings)
        assert not settings, "WebKitGTK's driver sets no preferences."
        return running_webkit(program, profile)


KINDS = (Kind("firefox", "Firefox", "firefox-esr"), Kind("webkit", "WebKitGTK", "webkit2gtk-driver"))


def sleep(engine: Engine, seconds: float) -> None:
    """Stop all processes of a browser for some seconds, as a computer that sleeps does."""
    os.killpg(engine.group, signal.SIGSTOP)
    try:
        Event().wait(seconds)
    finally:
        os.killpg(engine.group, signal.SIGCONT)


def until(engine: Engine, condition: str, *frames: str) -> None:
    """Wait in a page, or in a frame of it, until an expression is true.

    By a timer: a frame that nobody sees, such as one that is scrolled away, draws no animation frames.
    """
    engine.run(
        f"""
        const until = performance.now() + {(PATIENCE - 20) * 1000};
        while (!({condition})) {{
            if (performance.now() > until) throw new Error(`not in time: ${{document.body.innerText}}`);
            await new Promise((resolve) => setTimeout(resolve, 20));
        }}
        """,
        *frames,
    )
