"""Templates of which one frames the other, put on two origins as their READMEs say."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

from playwright.async_api import Frame, FrameLocator, Locator, Page

from mcpframe.kit.base.data import templates_dir
from mcpframe.kit.bundle.pipeline import build


@dataclass(frozen=True)
class Pair:
    """A dashboard and its copilot, built.

    Attributes:
        dashboard: the dashboard's address.
        copilot: the address that it frames.
    """

    dashboard: str
    copilot: str


def build_dashboard(
    folder: Path, work: Path, *, copilot: str, frame_src: str, snapshot: bool, dialect: str | None = None
) -> None:
    """Build the dashboard for a copilot.

    Args:
        folder: what is served.
        work: where to put a copy of the template, with the two lines changed that a person changes.
        copilot: the copilot's address.
        frame_src: what the dashboard may frame.
        snapshot: whether its page starts from a snapshot, which takes longer to build than it saves one visit.
        dialect: that of a copilot that has to be asked for by name.
    """
    project = work / "dashboard"
    shutil.copytree(templates_dir() / "dashboard", project)
    (project / "copilot.json").write_text(json.dumps({"url": copilot, "dialect": dialect}), "utf-8")
    config = project / "pyproject.toml"
    text = config.read_text("utf-8")
    assert '"http://localhost:8001"' in text
    config.write_text(text.replace("http://localhost:8001", frame_src), "utf-8")
    assert build(project, folder, snapshot=snapshot).warnings == ()


def build_copilot(folder: Path, dashboard_origins: list[str], *, snapshot: bool) -> None:
    """Build the copilot for dashboards of these origins."""
    assert (
        build(templates_dir() / "copilot", folder, allowed_origins=dashboard_origins, snapshot=snapshot).warnings == ()
    )


def build_conversation(folder: Path, work: Path, *, tools: str, host: str, snapshot: bool = True) -> None:
    """Build the template `conversation`, and `forecast`, of which it shows the views.

    Args:
        folder: what is served at both origins.
        work: where to put copies of the templates, with the lines changed that a person changes.
        tools: the origin of the forecast.
        host: the origin of the conversation.
        snapshot: as for the dashboard.
    """
    server = f"{tools}/forecast/"
    project = shutil.copytree(templates_dir() / "conversation", work / "conversation")
    (project / "addresses.json").write_text(json.dumps({"server": server}), "utf-8")
    config = project / "pyproject.toml"
    text = config.read_text("utf-8")
    assert '"http://localhost:8001"' in text
    config.write_text(text.replace("http://localhost:8001", tools), "utf-8")
    assert build(project, folder, snapshot=snapshot).warnings == ()
    project = shutil.copytree(templates_dir() / "forecast", work / "forecast")
    config = project / "pyproject.toml"
    text = config.read_text("utf-8")
    assert '"http://localhost:8000"' in text
    config.write_text(text.replace("http://localhost:8000", host), "utf-8")
    code = project / "server.py"
    text = code.read_text("utf-8")
    assert '"http://localhost:8001/forecast/"' in text
    code.write_text(text.replace("http://localhost:8001/forecast/", server), "utf-8")
    result = build(project, folder, snapshot=snapshot)
    assert any(server in warning for warning in result.warnings)  # no other machine reaches it


class Chat:
    """The copilot's page as a person uses it."""

    def __init__(self, page: Page | FrameLocator | Frame) -> None:
        """Use the copilot in this page or frame."""
        self._page = page

    @property
    def status(self) -> Locator:
        """What it says about its session."""
        return self._page.get_by_role("status")

    @property
    def log(self) -> Locator:
        """The conversation."""
        return self._page.get_by_role("log", name="Conversation")

    @property
    def last(self) -> Locator:
        """The last message."""
        return self.log.locator("div.message").last

    def button(self, name: str) -> Locator:
        """A button, by its name."""
        return self._page.get_by_role("button", name=name, exact=True)

    async def ask(self, question: str) -> None:
        """Type a question and send it with the keyboard."""
        field = self._page.get_by_label("Your question")
        await field.fill(question)
        await field.press("Enter")
