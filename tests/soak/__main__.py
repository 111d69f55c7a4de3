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
from mcpframe.kit.bridge.run import BridgeOptions, run_bridge
from mcpframe.kit.edges.http.endpoint import complete
from tests import soak
from tests.soak.browsers import BrowsersBounds, soak_browsers
from tests.soak.clients import PATIENCE
from tests.soak.engines import RIGS
from tests.soak.framed import FramedBounds, soak_framed
from tests.soak.hub import HubBounds, soak_hub
from tests.soak.tally import Tally
from tests.soak.workload import Bounds
from tests.soak.workload import soak as run_soak
from tests.support.bridged import http_bridge

SERVER = checkout_dir() / "tests" / "browser" / "servers" / "everything"
_START_SECONDS = 300.0
_BROWSERS_SECONDS = 600.0
_PARTS = ("bridge", "browsers", "hub", *RIGS)


def main(arguments: Sequence[str]) -> int:
    """Soak the bridge, the hub and framed servers, and print the result of each.

    Returns:
        1 if an answer was lost or anything was left.
    """
    options = _options(arguments)
    failed = False
    try:
        with tempfile.TemporaryDirectory(prefix="mcpframe-soak-", ignore_cleanup_errors=True) as folder:
            for part in options.only or _PARTS:
                tally = _soak(part, options, Path(folder, part))
                print(f"{part}\n{tally.table()}", *tally.problems, sep="\n", flush=True)
                failed = failed or bool(tally.problems)
    except KitError as error:
        print(f"soak: {error}", file=sys.stderr)
        return 1
    return int(failed)


def _soak(part: str, options: argparse.Namespace, folder: Path) -> Tally:
    folder.mkdir()
    if part == "bridge":
        return _soak_bridge(options, folder)
    seconds = options.minutes * 60
    if part == "browsers":
        live = options.live or options.sessions
        bounds = BrowsersBounds(
            min(seconds, _BROWSERS_SECONDS), options.sessions, live, interval=options.interval, pause=options.pause
        )
        return asyncio.run(soak_browsers(folder, bounds, options.seed, _tell))
    if part == "hub":
        return soak_hub(folder, HubBounds(options.calls, options.cycles, seconds, options.tabs), options.seed, _tell)
    framed = FramedBounds(options.calls, options.ends, options.cycles, seconds, options.ends // 4)
    return asyncio.run(soak_framed(part, folder, framed, options.seed, _tell))


def _soak_bridge(options: argparse.Namespace, folder: Path) -> Tally:
    tallies: list[Tally] = []
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
    return tallies[0]


async def _tabs(pages: Pages) -> list[str]:
    """Return the addresses of the tabs with a server's page that are left; an empty one is always open.

    Chromium answers that it closes a tab before the tab is gone, so those that are closing get time for it.
    """
    until = asyncio.get_running_loop().time() + PATIENCE
    while True:
        connected = [state.devtools for state in pages.browsers.states if state.devtools is not None]
        asked = [devtools.command("Target.getTargets") for devtools in connected]
        targets = [each for answer in await asyncio.gather(*asked) for each in answer["targetInfos"]]
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
    parser.add_argument("--only", choices=_PARTS, action="append", help="soak this part only; may be repeated")
    parser.add_argument("--cycles", type=int, default=500, help="how many tabs of the hub, or pages, come and go (500)")
    parser.add_argument("--ends", type=int, default=1000, help="how many workers are ended in each engine (1000)")
    parser.add_argument("--tabs", type=int, default=6, help="how many tabs the hub has at a time (6)")
    parser.add_argument(
        "--sessions",
        type=int,
        default=200,
        help="how many clients call the bridge on four browsers (200)",
    )
    parser.add_argument("--live", type=int, help="how many of these have a session at a time (all)")
    parser.add_argument("--interval", type=float, default=10, help="the seconds between two kills of a browser (10)")
    parser.add_argument("--pause", type=float, default=1, help="the seconds between two calls of a session (1)")
    parser.add_argument(
        "--minutes", type=float, default=30, help="how long each may take at most (30; browsers take 10, or these)"
    )
    parser.add_argument("--seed", type=int, default=1, help="of what happens by chance (1)")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
