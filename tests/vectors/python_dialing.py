"""Plays the stories of `hub_tabs/dialing.json` with `hub.homes.page.dialing`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from mcpframe.hub.homes.page.dialing import Dialled
from mcpframe.hub.homes.page.wire import ChannelNames
from tests.support.fake_hub import FakeClock

APP = "shop"
_PREFIX = f"mcpframe-hub:{APP}"
_ID = re.compile("[0-9a-f]{32}")

Story = dict[str, Any]
Outcome = list[dict[str, Any]]


@dataclass(eq=False)
class _Channel:
    stage: Stage
    name: str
    heard: Callable[[str], None]
    open: bool = True

    def post(self, text: str) -> None:
        self.stage.note(to=self.name, posts=text if text[:1] == "m" else json.loads(text.removeprefix("c")))

    def close(self) -> None:
        self.open = False


@dataclass(eq=False)
class _Lock:
    name: str
    held: Callable[[], None]
    lost: Callable[[], None]
    over: bool = False


class Stage:
    """A tab's browser (`TabBrowser`), which notes what a port does with it."""

    url = "https://app.example/"
    window_name = "mine"

    def __init__(self, remembered: str | None) -> None:
        self.clock = FakeClock()
        self.remembered_number = remembered
        self.outcome: Outcome = []
        self.channels: list[_Channel] = []
        self.locks: list[_Lock] = []
        self._ids: dict[str, str] = {}

    def note(self, **what: Any) -> None:
        """Note something, with `P1` for the id of the first port."""
        text = json.dumps(what).replace(f"{_PREFIX}:", "").replace(_PREFIX, "directory")
        self.outcome.append(json.loads(_ID.sub(lambda match: self._short(match[0]), text)))

    def _short(self, id_: str) -> str:
        return self._ids.setdefault(id_, f"P{len(self._ids) + 1}")

    def full(self, name: str) -> str:
        """Return the name of a channel or a lock."""
        for id_, short in self._ids.items():
            name = name.replace(short, id_)
        return _PREFIX if name == "directory" else f"{_PREFIX}:{name}"

    def channel(self, name: str, heard: Callable[[str], None]) -> _Channel:
        self.channels.append(_Channel(self, name, heard))
        return self.channels[-1]

    def lock(
        self,
        name: str,
        held: Callable[[], None],
        lost: Callable[[], None],
        *,
        shared: bool = False,
        steal: bool = False,
    ) -> Callable[[], None]:
        lock = _Lock(name, held, lost)
        self.locks.append(lock)
        self.note(asks=name, shared=shared)

        def release() -> None:
            if not lock.over:
                lock.over = True
                self.note(releases=name)

        return release

    def remembered(self, key: str) -> str | None:
        return self.remembered_number

    def remember(self, key: str, value: str) -> None:
        self.note(remembers=value)


def play(story: Story) -> list[Outcome]:
    """Return the outcome of each step of a story."""
    stage = Stage(story.get("remembered"))
    kind: Literal["window", "client"] = story["kind"]
    place: Any = stage
    port = Dialled(place, ChannelNames(APP), kind)
    port.on_open = lambda: stage.note(event="open")
    port.on_lost = lambda: stage.note(event="lost")
    port.on_unresponsive = lambda: stage.note(event="unresponsive")
    port.on_message = lambda text: stage.note(event="message", said=text)
    port.on_control = lambda said: stage.note(event="control", said=said)
    outcomes = []
    for step in story["steps"]:
        stage.outcome = []
        if "do" in step:
            getattr(port, step["do"])()
        elif "posts" in step:
            stage.note(posted=port.post(step["posts"]))
        elif "passes" in step:
            end = stage.clock.now() + step["passes"]
            while stage.clock.next_timer(end):
                pass
        elif "hears" in step:
            heard, on = step["hears"], stage.full(step["on"])
            mark = "" if step["on"] == "directory" else "c"
            text = heard if isinstance(heard, str) else mark + json.dumps(heard)
            [channel] = [each for each in stage.channels if each.name == on and each.open]
            channel.heard(text)
        else:
            name = stage.full(step.get("grants") or step["denies"])
            [lock] = [each for each in stage.locks if each.name == name and not each.over]
            if "denies" in step:
                lock.over = True
            (lock.held if "grants" in step else lock.lost)()
        outcomes.append(stage.outcome)
    return outcomes
