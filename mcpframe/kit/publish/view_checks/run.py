"""The view of a bundle under each profile: drawn, as text, or blank."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urljoin

from playwright.async_api import BrowserContext, Error, Frame, JSHandle, Page
from pydantic import TypeAdapter

from mcpframe.frame.dialects.available import view_dialects
from mcpframe.frame.hosting.mcp_apps.host_profiles import HOST_PROFILES, HostProfile
from mcpframe.frame.hosting.policy import ui_of
from mcpframe.kit.base.data import static_dir
from mcpframe.kit.base.errors import ConfigError, NoFramedServer
from mcpframe.kit.base.progress import Progress, silent
from mcpframe.kit.bundle.assembly.built_manifest import MANIFEST
from mcpframe.kit.publish.view_checks.sample_call import SampleCall, call_of_program, call_to_show
from mcpframe.kit.publish.view_checks.stage import HOST, SANDBOX, Stage, stage
from mcpframe.kit.servers.published import fetch, not_offered, read_manifest

Json = Mapping[str, Any]
Outcome = Literal["draws", "text", "blank"]

IN_WORDS: Mapping[Outcome, str] = {"draws": "draws", "text": "text form", "blank": "blank"}
"""The outcomes for people, the best first."""

_CONTEXT: Json = {
    "theme": "light",
    "locale": "en-US",
    "timeZone": "UTC",
    "displayMode": "inline",
    "availableDisplayModes": ["inline"],
    "containerDimensions": {"maxWidth": 800, "maxHeight": 2000},
    "platform": "web",
}
_SHOW = "(host, [call, within]) => host.show(call, within)"
_IS_SHOWN = "frame => frame.checkVisibility({ opacityProperty: true, visibilityProperty: true })"
_HIDDEN = """async ([highest, settling]) => {
  if (!document.querySelector("#mcpframe-app, #mcpframe-stand-in")) return 0;
  const hidden = () => (innerHeight < highest ? document.documentElement.scrollHeight - innerHeight : 0);
  const end = performance.now() + settling;
  while (hidden() > 0 && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 50));
  return Math.max(0, hidden());
}"""
"""The height of a document's content below its frame, once the host had time to apply what the view reports; 0 where
the frame is as high as the host allows."""
_SETTLING = 2000
_ENDING = 10.0


@dataclass(frozen=True)
class ViewText:
    """A view's text, as a host reads it.

    Attributes:
        html: The HTML text.
        ui: The `_meta.ui` of its resource.
        url: The address of the bundle that it shows.
    """

    html: str
    ui: Json
    url: str


@dataclass(frozen=True)
class Row:
    """The outcome of a view under one profile. Times are in ms from the moment when the host adds the frame.

    Attributes:
        profile: The profile's name.
        title: Its name for people.
        outcome: `draws`: the bundle's page is ready and has content. `text`: the text of the result stands in for it.
            `blank`: neither, in the time given.
        painted: The first paint; None for none.
        initialized: When the view was ready; None if it was not.
        drawn: When it had drawn the result, or its text; None if nothing changed after the result.
        violations: Violations of the policy, as `directive source`.
        error_page: Whether an error page of the browser could be seen.
        hidden: The height of the content below the edge of the view's frame, in CSS pixels, though the host's frames
            have the height that a view reports.
    """

    profile: str
    title: str
    outcome: Outcome
    painted: float | None = None
    initialized: float | None = None
    drawn: float | None = None
    violations: tuple[str, ...] = ()
    error_page: bool = False
    hidden: int = 0

    @property
    def failed(self) -> bool:
        """Whether a user would see nothing, an error page, or only a part of the view."""
        return self.outcome == "blank" or self.error_page or self.hidden > 0


_ROW = TypeAdapter(Row)


@dataclass(frozen=True)
class ViewReport:
    """The outcomes of a bundle's view under all profiles.

    Attributes:
        url: The address of the bundle.
        tool: The name of the tool that is shown.
        arguments: Its arguments.
        note: See `SampleCall`.
        rows: A row for each profile.
    """

    url: str
    tool: str
    arguments: Json
    note: str
    rows: tuple[Row, ...]


def check_url_views(
    url: str,
    bundle: Path | None,
    *,
    server: Sequence[str] = (),
    origin: str | None = None,
    patience: float = 30.0,
    progress: Progress = silent,
) -> ViewReport:
    """Show a tool call in the view of the bundle at a URL, under all profiles.

    Args:
        url: The address of its page.
        bundle: Its folder; None if it is published there.
        server: The program, and its arguments, of the server whose tool is called; by default the bundle is it.
        origin: The origin of the page that frames it for the call; by default the first that it allows.
        patience: Seconds that the page, the call and each view may take.
        progress: Called with a description of each step.

    Raises:
        ConfigError: It has no view.
        KitError: The browser, a web server or the program does not start, or no web server answers.
    """
    manifest = read_manifest(url, patience=patience)
    if manifest is None:
        raise NoFramedServer(f"{url} is not the page of an mcpframe bundle: there is no {MANIFEST} beside it.")
    view = read_view(url, manifest)
    with progress("Calling a tool of the view"):
        call = asyncio.run(
            call_of_program(server, patience=patience)
            if server
            else call_to_show(url, manifest, origin=origin, patience=patience)
        )
    rows = asyncio.run(check_view(view, call, bundle=bundle, patience=patience, progress=progress))
    return ViewReport(view.url, call.tool["name"], call.arguments, call.note, tuple(rows))


def read_view(url: str, manifest: Json) -> ViewText:
    """Return the view of a bundle.

    Args:
        url: The address of its page.

    Raises:
        ConfigError: It has none.
        NoFramedServer: The web server does not answer.
    """
    app = manifest.get("app")
    if not app:
        reason = not_offered(manifest, view_dialects()[0])
        raise ConfigError(f"{url} {reason}." if reason else f"{url} has no view: build it with --url ADDRESS.")
    answer = fetch(urljoin(url, app["files"]["app"]))
    if answer.status != 200:
        raise NoFramedServer(f"{answer.url} answers with status {answer.status}: upload the whole folder.")
    return ViewText(answer.body.decode(), ui_of(app), app["url"])


async def check_view(
    view: ViewText,
    call: SampleCall,
    *,
    bundle: Path | None = None,
    profiles: Sequence[HostProfile] = tuple(HOST_PROFILES.values()),
    patience: float = 30.0,
    progress: Progress = silent,
) -> list[Row]:
    """Show a call in a view under each profile, twice: the second time, the browser has the bundle's files.

    Args:
        bundle: The folder of its bundle; None if it is published at its address.
        patience: Seconds that a view may take.
        progress: Called with a description of each step.

    Returns:
        A row for each profile, with the worse outcome and the times of the second showing.

    Raises:
        KitError: The browser or the web server does not start.
    """
    csp = view.ui.get("csp")
    headers = {profile.name: profile.policies(csp)[0] for profile in profiles}
    rows: dict[str, Row] = {}
    with stage(view.url, bundle, headers) as stood:
        for storage, group in groupby(sorted(profiles, key=lambda each: not each.storage), lambda each: each.storage):
            async with stood.browser(storage=storage) as context:
                for profile in group:
                    with progress(f"Showing the view as in {profile.title}"):
                        rows[profile.name] = await _under(context, stood, profile, view, call, patience)
    return [rows[profile.name] for profile in profiles]


async def _under(
    context: BrowserContext, stood: Stage, profile: HostProfile, view: ViewText, call: SampleCall, patience: float
) -> Row:
    shown = {
        "tool": call.tool,
        "arguments": call.arguments,
        "partial": dict(list(call.arguments.items())[:1]),
        "result": call.result,
    }
    async with hosted(context, stood, profile, view) as (host, hosting):
        errors = _ErrorPages(host.page)
        rows = []
        hidden = 0
        for turn in range(2):
            async with asyncio.timeout(patience + _ENDING):
                seen = await hosting.evaluate(_SHOW, [shown, patience * 1000])
            rows.append(_ROW.validate_python({"profile": profile.name, "title": profile.title, **seen}))
            if rows[-1].outcome == "blank":
                break
            hidden = max(hidden, await _hidden(host))
            if turn == 1 or not profile.frame_per_call:
                async with asyncio.timeout(_ENDING):
                    await hosting.evaluate("host => host.end()")
        error_page = await errors.seen()
    worst = max(rows, key=lambda row: list(IN_WORDS).index(row.outcome))
    last = rows[-1] if rows[-1].outcome == worst.outcome else worst
    return Row(**{**vars(last), "error_page": error_page, "hidden": hidden})


async def _hidden(host: Frame) -> int:
    """Return the greatest height that is hidden in the views of a host."""
    given = [_CONTEXT["containerDimensions"]["maxHeight"], _SETTLING]
    pixels = [0]
    for frame in host.page.frames:
        with suppress(Error):  # it is gone already
            pixels.append(await frame.evaluate(_HIDDEN, given))
    return max(pixels)


@asynccontextmanager
async def hosted(
    context: BrowserContext, stood: Stage, profile: HostProfile, view: ViewText
) -> AsyncIterator[tuple[Frame, JSHandle]]:
    """Open a page that is the host of a profile, for the duration of the block.

    Yields:
        The host's page, which may be a frame, and its functions; see `static/apps_hosts/host.js`.
    """
    page = await context.new_page()
    scripts = {name: (static_dir() / "apps_hosts" / f"{name}.js").read_text("utf-8") for name in ("host", "probe")}
    framed = profile.top == "file"
    origin = f"https://{profile.name}.{HOST}"
    await page.add_init_script(f"({scripts['probe'].rstrip().rstrip(';')})({int(framed)}, {json.dumps(origin)})")
    address = f"{origin}/"
    try:
        await page.goto(stood.page_above(profile.name) if framed else address)
        host = next(frame for frame in page.frames if frame.url == address)
        options = {
            "sandboxUrl": f"https://{profile.name}.{SANDBOX}/sandbox.html",
            "sandbox": profile.sandbox,
            "html": profile.document(view.html, view.ui.get("csp")),
            "isHidden": profile.hidden,
            "isEarly": profile.early,
            "context": _CONTEXT,
        }
        yield host, await host.evaluate_handle(scripts["host"].rstrip().rstrip(";"), options)
    finally:
        await page.close()


class _ErrorPages:
    """Notices error pages of the browser in the frames of a page."""

    def __init__(self, page: Page) -> None:
        self._seen: list[asyncio.Task[bool]] = []
        page.on("framenavigated", self._on_navigated)

    def _on_navigated(self, frame: Frame) -> None:
        if frame.url.startswith("chrome-error:"):
            self._seen.append(asyncio.ensure_future(_is_shown(frame)))

    async def seen(self) -> bool:
        """Return whether one could be seen."""
        return any(await asyncio.gather(*self._seen))


async def _is_shown(frame: Frame) -> bool:
    try:
        return bool(await (await frame.frame_element()).evaluate(_IS_SHOWN))
    except Error:
        return False  # it is gone already
