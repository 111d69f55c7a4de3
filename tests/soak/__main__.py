"""The command line of the soak."""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from mcpframe.kit.base.data import checkout_dir
from mcpframe.kit.base.errors import KitError
from mcpframe.kit.base.progress import step
from mcpframe.kit.bridge.chromium.pages import Pages
from mcpframe.kit.bridge.http.endpoint import complete
from mcpframe.kit.bridge.run import BridgeOptions, run_bridge
from tests import soak
from tests.soak.clients import PATIENCE
from tests.soak.hub import HubBounds, soak_hub
from tests.soak.tally import Tally
from tests.soak.workload import Bounds
from tests.soak.workload import soak as run_soak
from tests.support.bridged import http_bridge

SERVER = checkout_dir() / "tests" / "browser" / "servers" / "everything"
_START_SECONDS = 300.0


def main(arguments: Sequence[str]) -> int:
    """Soak the bridge and the hub, and print the result.

    Returns:
        1 if an answer was lost or anything was left.
    """
    options = _options(arguments)
    tallies: list[Tally] = []
    try:
        with tempfile.TemporaryDirectory(prefix="mcpframe-soak-", ignore_cleanup_errors=True) as folder:
            if options.only != "hub":
                _run(options, Path(folder), tallies)
            if options.only != "bridge":
                bounds = HubBounds(options.calls, options.cycles, options.minutes * 60, options.tabs)
                tallies.append(soak_hub(Path(folder, "hub"), bounds, options.seed, _tell))
    except KitError as error:
        print(f"soak: {error}", file=sys.stderr)
        return 1
    for tally in tallies:
        print(tally.table())
        for problem in tally.problems:
            print(problem)
    return int(any(tally.problems for tally in tallies))


def _run(options: argparse.Namespace, folder: Path, tallies: list[Tally]) -> None:
    stdio = [sys.executable, "-m", "mcpframe", "bridge", str(SERVER), "--timeout", str(_START_SECONDS)]
    stdio += ["--profile", str(folder / "stdio")]

    async def serve(pages: Pages) -> None:
        bounds = Bounds(options.calls, options.minutes * 60)
        async with http_bridge(complete(pages.open)) as bridge:
            tally = await run_soak(bridge, stdio, folder, bounds, options.seed, _tell)
        tabs = await _tabs(pages)
        tally.left["tabs"] = len(tabs)
        tally.failures.extend(f"a tab is left: {url}" for url in tabs)
        tallies.append(tally)

    run_bridge(BridgeOptions(str(SERVER), profile=folder / "http", patience=_START_SECONDS, progress=step), serve)


async def _tabs(pages: Pages) -> list[str]:
    """Return the addresses of the tabs with a server's page that are left; an empty one is always open.

    Chromium answers that it closes a tab before the tab is gone, so those that are closing get time for it.
    """
    browser = pages._browser
    if browser is None:
        return []
    until = asyncio.get_running_loop().time() + PATIENCE
    while True:
        targets = (await browser.devtools.command("Target.getTargets"))["targetInfos"]
        left = [each["url"] for each in targets if each["type"] == "page" and each["url"].startswith("http")]
        if not left or asyncio.get_running_loop().time() > until:
            return left
        await asyncio.sleep(0.1)


def _tell(tally: Tally) -> None:
    if sys.stderr.isatty():
        print(f"\r{tally.calls:,} calls, {len(tally.lost)} lost", end="", file=sys.stderr, flush=True)


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="build.py soak", description=soak.__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--calls", type=int, default=20_000, help="how many calls are made of each (20000)")
    parser.add_argument("--only", choices=("bridge", "hub"), help="soak only one of the two")
    parser.add_argument("--cycles", type=int, default=500, help="how many tabs of the hub come and go (500)")
    parser.add_argument("--tabs", type=int, default=6, help="how many tabs the hub has at a time (6)")
    parser.add_argument("--minutes", type=float, default=30, help="how long each may take at most (30)")
    parser.add_argument("--seed", type=int, default=1, help="of what happens by chance (1)")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
