"""Browsers other than Chromium, each by the driver that it comes with."""

from __future__ import annotations

from typing import Any, Protocol

from tests.browser.firefox import PATIENCE


class Engine(Protocol):
    """A browser with one tab."""

    def open(self, url: str) -> None:
        """Open a page."""

    def run(self, script: str, *frames: str) -> Any:
        """Run the body of an async function in it, or in the frame that these selectors lead to."""


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
