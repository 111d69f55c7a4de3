"""From "copy this line" to listed tools: what somebody waits for who has uv, a browser, and nothing else.

Each command runs in an empty environment (`env -i`): a fresh home, and a PATH with uv and the system's own programs, as
the start scripts that uv writes need some of these. The wheel stands in for the index (`UV_FIND_LINKS`), and this
Python for one that uv would fetch. Times are printed only: they are those of this machine.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters, stdio_client
from uv import find_uv_bin

from mcpframe.kit.base.data import checkout_dir, templates_dir
from mcpframe.kit.base.errors import KitError
from mcpframe.kit.base.processes import run_tool
from mcpframe.kit.base.scratch import scratch
from mcpframe.kit.bridge.chromium.bridge_page import HOST_ORIGIN
from mcpframe.kit.bridge.install.environment import needed_variables
from mcpframe.kit.bundle.pipeline import build
from mcpframe.kit.publish.listings.listing import listing_of
from mcpframe.kit.servers.published import read_manifest
from mcpframe.kit.web.serve import serve_folder
from tests.release.packages import Packages

_SECONDS = 300.0
"""For a command with its installation, from a cold cache."""
_ITS_OWN = ("MCPFRAME_CACHE", "MCPFRAME_PYODIDE", "MCPFRAME_PYODIDE_PACKAGES", "XDG_CACHE_HOME", "UV_FIND_LINKS")
_SHORT_PATH = "/usr/bin:/bin"
"""That of a client which was started from a desktop: it has no uv."""


def check_copied_line(packages: Packages) -> None:
    """Run what the install page shows, and what `mcpframe install` writes, with the official client; print the times.

    Raises:
        KitError: A command fails, or its bridge does not list and call the server's tool.
    """
    with scratch("copied") as folder:
        home, programs = folder / "home", folder / "programs"
        home.mkdir()
        programs.mkdir()
        for name in ("uv", "uvx"):
            (programs / name).symlink_to(Path(find_uv_bin()).with_name(name))
        bare = {**_way_to_the_index(packages), "HOME": str(home), "PATH": f"{programs}:{_SHORT_PATH}"}
        built = build(templates_dir() / "minimal", folder / "dist", allowed_origins=[HOST_ORIGIN])
        with serve_folder(built.folder.parent) as served:
            url = f"{served.origin}/{built.folder.name}/"
            line = _line(url)
            cold, warm = (asyncio.run(_listed(line, bare, folder)) for _ in range(2))
            install = [*line[:2], "install", url, "--client", "claude-code", "--project", str(folder), "--yes"]
            run_tool(_empty(install, bare), "mcpframe install", cwd=Path("/"), timeout=_SECONDS)
            [entry] = json.loads((folder / ".mcp.json").read_text("utf-8"))["mcpServers"].values()
            # The variables of the stand-ins are those of the client's own environment.
            client = {**bare, "PATH": _SHORT_PATH, **entry.get("env", {})}
            installed = asyncio.run(_listed([entry["command"], *entry["args"]], client, folder))
    print(
        f"`{' '.join(line[:3])} URL`: tools are listed after {cold:.1f} s from a cold cache of uv, {warm:.1f} s from a "
        f"warm one, and {installed:.1f} s by the command that `install` writes"
    )


def _way_to_the_index(packages: Packages) -> dict[str, str]:
    """Return the variables with which uv gets the wheel, the locked dependencies, and a Python."""
    known, secret = needed_variables(os.environ)
    found = {**known, **{name: os.environ[name] for name in secret}}
    return {
        **{name: value for name, value in found.items() if name.upper() not in _ITS_OWN},
        "UV_FIND_LINKS": str(packages.wheel.parent),
        "UV_CONSTRAINT": str(checkout_dir() / "requirements" / "dev.txt"),
        "UV_PYTHON": sys.executable,
    }


def _line(url: str) -> tuple[str, ...]:
    """Return the command of the install page. It is written for a page at an https address."""
    page = "https://tools.example/minimal/"
    listing = listing_of(read_manifest(url), page, "com.example/minimal", description="Adds.", version="1.0.0")
    return replace(listing, page=url).command


def _empty(command: Sequence[str], variables: Mapping[str, str]) -> list[str]:
    return ["/usr/bin/env", "-i", *(f"{name}={value}" for name, value in variables.items()), *command]


async def _listed(command: Sequence[str], variables: Mapping[str, str], folder: Path) -> float:
    """Run a bridge as a client does, from `/`; return the seconds until its tools are listed, and call one."""
    program, *arguments = _empty(command, variables)
    log = folder / "stderr.txt"
    began = time.perf_counter()
    try:
        with log.open("w") as errors:
            server = StdioServerParameters(command=program, args=arguments, cwd="/")
            async with asyncio.timeout(_SECONDS), Client(stdio_client(server, errlog=errors)) as client:
                tools = (await client.list_tools()).tools
                seconds = time.perf_counter() - began
                result = await client.call_tool("add", {"a": 1, "b": 2})
    except (MCPError, OSError, ExceptionGroup) as error:  # OSError includes TimeoutError
        said = log.read_text("utf-8", "replace")[-2000:]
        raise KitError(f"`{' '.join(command)}` does not serve in an empty environment: {error}\n{said}") from error
    if [tool.name for tool in tools] != ["add"] or result.structured_content != {"result": 3}:
        raise KitError(f"`{' '.join(command)}` lists {tools!r}, and answers {result!r}.")
    return seconds
