"""Framed servers in a soak: one in a worker that is ended again and again, one with processes, and pages that go."""

from __future__ import annotations

import asyncio
import json
import shutil
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcpframe.kit.bundle.pipeline import build
from mcpframe.kit.web.host_page import copy_host_modules
from mcpframe.kit.web.serve import serve_folder
from tests.soak.clients import PATIENCE
from tests.soak.engines import RIGS, WORKERS, Figures, Rig
from tests.soak.tally import Tally, WarmUp
from tests.support.built import SERVERS

SCRIPT = Path(__file__).with_name("framed_page.js")
_CALLS = 400
"""How many calls are made in a round, about; the page reports after each."""
_NOISE: Mapping[str, float] = {
    "MB of all": 48.0,
    "MB of JavaScript": 3.0,
    "MB of WebAssembly": 2.0,
    "MB of buffers": 2.0,
    "": 60.0,
}
"""How much each figure may grow after the warm-up, by the beginning of its name."""


@dataclass(frozen=True)
class FramedBounds:
    """The limits of a soak of framed servers.

    Attributes:
        calls: how many calls are answered or cancelled, beside those that end workers.
        ends: how many workers of a server are ended.
        cycles: how many pages come and go.
        seconds: how long it may take; then it ends with what was made so far.
        processes: how many processes of another page are ended.
    """

    calls: int
    ends: int
    cycles: int
    seconds: float
    processes: int = 0

    def round(self, number: int, rounds: int) -> dict[str, int]:
        """Return the part of one of so many rounds."""

        def part(total: int) -> int:
            return total * (number + 1) // rounds - total * number // rounds

        totals = {"calls": self.calls, "ends": self.ends, "processes": self.processes, "cycles": self.cycles}
        return {what: part(total) for what, total in totals.items()}

    @property
    def rounds(self) -> int:
        """In how many rounds it is made."""
        return max(5, self.calls // _CALLS, self.ends // 10, self.cycles // 3)


@asynccontextmanager
async def framed_site(folder: Path) -> AsyncIterator[tuple[str, dict[str, str]]]:
    """Serve a host page and the bundles that it frames; return the address of the one, and those of the others."""
    pages, bundles = folder / "pages", folder / "bundles"
    pages.mkdir(parents=True)
    bundles.mkdir()
    (pages / "index.html").write_text('<!doctype html><meta charset="utf-8"><title>A host</title><body>')
    copy_host_modules(pages)
    shutil.copy(SCRIPT, pages)
    with serve_folder(pages) as page, serve_folder(bundles) as frame:
        host = f"http://host.localhost:{page.port}"
        urls = {}
        for name in ("soaked", "pooled"):
            built = await asyncio.to_thread(build, SERVERS / name, bundles, allowed_origins=[host])
            urls[name] = f"http://bundle.localhost:{frame.port}/{built.url_path}"
        yield f"{host}/index.html", urls


async def soak_framed(
    engine: str, folder: Path, bounds: FramedBounds, seed: int, tell: Callable[[Tally], None] = lambda _: None
) -> Tally:
    """Run a browser with servers in frames, and return what happened, and what is left.

    Args:
        engine: one of `RIGS`.
        folder: for bundles and the profile.
        bounds: when to end.
        seed: the seed of the random choices.
        tell: called now and then with the counts so far.
    """
    async with framed_site(folder) as (host, urls), RIGS[engine](folder / "profile") as rig:
        await rig.open(host)
        return await FramedSoak(rig, engine).run(urls, bounds, seed, tell)


class FramedSoak:
    """The work in one browser."""

    def __init__(self, rig: Rig, engine: str) -> None:
        self._rig = rig
        self._engine = engine
        self.tally = Tally()
        self._workers = 1
        """The most workers that may be there: the server's, and the processes of the other page that rest."""

    async def run(
        self, urls: Mapping[str, str], bounds: FramedBounds, seed: int, tell: Callable[[Tally], None] = lambda _: None
    ) -> Tally:
        """Do everything, and compare what is left with what was there after a warm-up."""
        await self._rig.run(
            f"""
            const {{ Soak }} = await import("/{SCRIPT.name}");
            window.soak = new Soak({json.dumps(urls)}, {seed});
            await soak.begin();
            """
        )
        self._workers = 1 + await self._rig.run("return navigator.hardwareConcurrency")
        until, warm_up = time.monotonic() + bounds.seconds, WarmUp(bounds.seconds)
        before: Figures = {}
        for number in range(bounds.rounds):
            if time.monotonic() > until:
                break
            self._note(
                await self._rig.run(f"return await soak.work({json.dumps(bounds.round(number, bounds.rounds))})")
            )
            tell(self.tally)
            if not before and warm_up.is_over((number + 1) / bounds.rounds):
                before = await self._at_rest()
        self._compare(before, await self._at_rest())
        return self.tally

    def _note(self, found: Mapping[str, Any]) -> None:
        for kind, count in found["done"].items():
            what = f"{self._engine}, {kind}"
            (self.tally.done if kind.startswith("calls: ") else self.tally.measured)[what] += count
        self.tally.lost += [f"{self._engine}, {each}" for each in found["lost"]]
        for what, milliseconds in found["longest"].items():
            name = f"{self._engine}, {what}, at most"
            self.tally.measured[name] = max(self.tally.measured[name], round(milliseconds))

    async def _at_rest(self) -> Figures:
        """Return the figures, once the workers that were ended are gone."""
        memory = await self._rig.run("return await soak.memory()")
        until = time.monotonic() + PATIENCE / 2
        while True:
            figures = await self._rig.figures()
            if self._extra(figures) <= 0 or time.monotonic() > until:
                break
            await asyncio.sleep(1)  # neither engine reports the end of a thread
        figures["MB of WebAssembly memory in the server's worker"] = memory["wasm"] / 2**20
        figures["objects of JavaScript that the server's worker refers to"] = memory["references"]
        return figures

    def _extra(self, figures: Figures) -> float:
        return max(figures.get(WORKERS, 0), figures.get("threads of workers", 0)) - self._workers

    def _compare(self, before: Figures, after: Figures) -> None:
        self.tally.left[f"{self._engine}: figures of a warm-up, which took all the time,"] = int(not before)
        self.tally.left[f"{self._engine}: workers"] = max(0, int(self._extra(after)))
        for what, figure in after.items():
            grown = figure - before.get(what, figure)
            noise = next(noise for beginning, noise in _NOISE.items() if what.startswith(beginning))
            self.tally.left[f"{self._engine}: {what} beyond {noise:g}, after a warm-up"] = max(0, round(grown - noise))
            name = f"{self._engine}: {what}, {grown:+.1f} since the warm-up"
            self.tally.measured[name] = round(figure)
