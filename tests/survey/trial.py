"""One package of a survey: built by its name as `mcpframe build package:NAME` does, opened in Chromium, called once.

    python3 -m tests.survey.trial LIST NAME FOLDER

FOLDER gets `step`, the step under way, and the outcome as `NAME.json`.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from mcp import Client
from mcp.shared.exceptions import MCPError
from packaging.utils import canonicalize_name
from playwright.async_api import BrowserContext, Route, async_playwright

from mcpframe.frame.core.roles import Options
from mcpframe.frame.hosting.outer import OuterFrame
from mcpframe.kit.base.deadline import within
from mcpframe.kit.base.errors import CallError
from mcpframe.kit.base.scratch import scratch
from mcpframe.kit.base.server_lists import list_all
from mcpframe.kit.browser.chromium import ensure_chromium, launch_options
from mcpframe.kit.browser.devtools.host_page import OFF
from mcpframe.kit.browser.host_tab import host_tab
from mcpframe.kit.browser.playwright_window import PlaywrightPlace
from mcpframe.kit.bundle.pipeline import build
from mcpframe.kit.project.packaged import PackageOptions, package_project
from mcpframe.kit.web.serve import serve_folder
from tests.survey.outcomes import Outcome, advised_to_leave_out, stage_of
from tests.survey.packages import Package, read_packages

HOST = "https://host.example"
_MOST_LEFT_OUT = 4
_PATIENCE = 60.0  # seconds, for the page's first message and for the call


class Trial:
    """The trial of a package in a folder of its own.

    Attributes:
        outcome: What is known so far.
    """

    def __init__(self, package: Package, folder: Path) -> None:
        self.outcome = Outcome(package.name, package.digest)
        self._package = package
        self._folder = folder
        self._step = ""
        self._complaints: list[str] = []
        self._left_out: list[str] = []

    def run(self) -> Outcome:
        """Try the package, and return the outcome, whatever happens.

        If it lacks a package, it is tried again without: the outcome is that of the first trial, and what is behind it.
        """
        begun = time.monotonic()
        first = last = self._tried()
        while last.stage and len(self._left_out) < _MOST_LEFT_OUT:
            name = advised_to_leave_out(last.message)
            if not name or name in self._left_out:
                break
            self._left_out.append(name)
            last = self._tried()
        if self._left_out:
            became = f"{last.stage}: {last.why}" if last.stage else "answers"
            first = replace(last, stage=first.stage, message=first.message)
            first = replace(first, behind=f"without {', '.join(self._left_out)}: {became}")
        return replace(first, seconds=round(time.monotonic() - begun, 1))

    def _tried(self) -> Outcome:
        self.outcome = Outcome(self._package.name, self._package.digest)
        try:
            asyncio.run(self._called(self._built()))
        except Exception as error:  # noqa: BLE001 whatever a package provokes is its outcome
            message = "; ".join(_messages(error))
            told = "\n".join([message, *self._complaints])
            self.outcome = replace(self.outcome, stage=stage_of(self._step, message), message=told)
        return self.outcome

    @contextmanager
    def step(self, what: str) -> Iterator[None]:
        """Note the step under way, for whoever ends this process at its deadline."""
        self._step = what
        (self._folder / "step").write_text(what)
        yield

    def _built(self) -> Path:
        package, out = self._package, self._folder / "dist"
        options = PackageOptions(package.args, package.env, [HOST], leave_out=self._left_out)
        shutil.rmtree(self._folder / "project", ignore_errors=True)
        project = package_project(package.requirement, self._folder / "project", options)
        _connect(project / "pyproject.toml", package)
        built = build(project, out, progress=self.step)
        versions = built.manifest["versions"]["packages"]
        self.outcome = replace(
            self.outcome,
            version=versions.get(canonicalize_name(package.name), ""),
            sdk=_sdk(versions),
            first_visit=built.sizes["first_visit"],
        )
        return built.folder

    async def _called(self, bundle: Path) -> None:
        package = self._package
        with self.step("Opening the page"), serve_folder(bundle.parent) as served:
            async with _browser(package) as context, host_tab(context, HOST) as tab:
                outer = OuterFrame(f"{served.origin}/{bundle.name}/", options=Options(handshake_timeout=_PATIENCE))
                try:
                    async with Client(outer.connect(PlaywrightPlace(tab.page)), mode="auto") as client:
                        with self.step("Listing the tools"):
                            names = [tool["name"] for tool in await list_all(client.list_tools, "tools")]
                            self.outcome = replace(self.outcome, tools=len(names))
                        with self.step("Calling the tool"):
                            await self._call(client, names)
                finally:
                    self._complaints = tab.complaints

    async def _call(self, client: Client, names: list[str]) -> None:
        tool, expects = self._package.tool, self._package.expects
        if tool not in names:
            raise CallError(f"There is no tool {tool!r}, but {', '.join(names) or 'none'}.")
        async with within(_PATIENCE, lambda: CallError(f"{tool} has not answered within {_PATIENCE:g} s.")):
            result = await client.call_tool(tool, dict(self._package.arguments))
        text = "\n".join(getattr(item, "text", "") for item in result.content)
        if result.is_error:
            raise CallError(f"{tool} answers with an error: {text}")
        if expects not in text and expects not in json.dumps(result.structured_content, ensure_ascii=False):
            raise CallError(f"{tool} answers without {expects!r}: {text}")


def _messages(error: BaseException) -> Iterator[str]:
    if isinstance(error, BaseExceptionGroup):
        for each in error.exceptions:
            yield from _messages(each)
    elif isinstance(error, MCPError) or type(error).__module__.startswith("mcpframe"):
        yield str(error)
    else:
        yield f"{type(error).__name__}: {error}"


def _connect(file: Path, package: Package) -> None:
    """Allow the page to reach the hosts that the survey stands in for."""
    hosts = sorted({"{0.scheme}://{0.netloc}".format(urlsplit(address)) for address in package.answers})
    if hosts:
        file.write_text(f"{file.read_text()}\n[tool.mcpframe.csp]\nconnect_src = {json.dumps(hosts)}\n")


def _sdk(versions: dict[str, Any]) -> str:
    names = [name for name in ("fastmcp", "fastmcp-slim", "mcp") if name in versions]
    names = [name for name in names if not (name == "fastmcp-slim" and "fastmcp" in names)]
    return ", ".join(f"{name} {versions[name]}" for name in names)


@asynccontextmanager
async def _browser(package: Package) -> AsyncIterator[BrowserContext]:
    """A Chromium in which bodies of the list stand in for the network."""

    async def answer(route: Route) -> None:
        address = route.request.url
        body = next((body for start, body in package.answers.items() if address.startswith(start)), None)
        if body is None:
            await route.abort()
            return
        kind = "application/json" if body.lstrip()[:1] in ("{", "[") else "text/html"
        headers = {"access-control-allow-origin": "*", "content-type": f"{kind}; charset=utf-8"}
        await route.fulfill(body=body, headers=headers)

    def is_far(url: str) -> bool:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and parts.hostname != "127.0.0.1" and not url.startswith(f"{HOST}/")

    with scratch("survey") as profile:
        async with async_playwright() as playwright:
            launching = playwright.chromium.launch_persistent_context(
                profile, **launch_options(ensure_chromium(), off=OFF)
            )
            async with await launching as context:
                await context.route(is_far, answer)
                yield context


def main(arguments: list[str]) -> None:
    """Try one package of a list, and keep the outcome."""
    listed, name, folder = Path(arguments[0]), arguments[1], Path(arguments[2])
    package = next(package for package in read_packages(listed) if package.name == name)
    Trial(package, folder).run().keep(folder)


if __name__ == "__main__":
    main(sys.argv[1:])
