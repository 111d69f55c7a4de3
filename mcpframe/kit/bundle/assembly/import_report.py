"""The report on a server that was imported in Pyodide, by `in_pyodide/import_server.py`: checked, and as a description.

The author's modules may have replaced it: it is data of a stranger.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from mcpframe.frame.core.allowed_origins import OriginEntries
from mcpframe.frame.core.limits import MESSAGE_NESTING
from mcpframe.frame.core.visible import visible
from mcpframe.kit.base.errors import BuildError
from mcpframe.kit.bundle.assembly.description import ServerDescription, SetupDescription
from mcpframe.kit.bundle.assembly.layers import SERVER_PATH
from mcpframe.kit.bundle.assembly.view_files import unreachable_views
from mcpframe.kit.bundle.code.start_errors import Code, Raised, explain

_MOST = 10_000
_MOST_QUOTED = 100  # characters


def _is_tool(tool: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(tool.get("name"), str):
        raise ValueError("a tool without a name")
    return _is_shallow(tool)


def _is_shallow(value: dict[str, Any]) -> dict[str, Any]:
    depth_left, level = MESSAGE_NESTING, [value]
    while level:
        if depth_left == 0:
            raise ValueError(f"more than {MESSAGE_NESTING} levels")
        depth_left -= 1
        level = [item for part in level for item in _parts(part)]
    return value


def _parts(value: object) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


_Text = Annotated[str, StringConstraints(max_length=1_000_000)]
_Tool = Annotated[dict[str, Any], AfterValidator(_is_tool)]


class _Permission(BaseModel):
    model_config = ConfigDict(strict=True)

    name: _Text
    phase: Annotated[list[_Text], Field(max_length=_MOST)]
    required: bool
    purpose: _Text


class _Setup(BaseModel):
    model_config = ConfigDict(strict=True)

    visible: bool
    permissions: Annotated[list[_Permission], Field(max_length=_MOST)]

    def as_inspected(self) -> SetupDescription:
        permissions = ({**item.model_dump(), "phase": tuple(item.phase)} for item in self.permissions)
        return SetupDescription(self.visible, tuple(permissions))


_Frame = Annotated[tuple[_Text, int, _Text], Field(strict=False)]  # JSON has lists only
_Frames = Annotated[list[_Frame], Field(max_length=_MOST)]


class _Raised(BaseModel):
    model_config = ConfigDict(strict=True)

    kinds: Annotated[list[_Text], Field(max_length=_MOST)]
    text: _Text
    frames: _Frames

    def as_raised(self) -> Raised:
        return Raised(tuple(self.kinds), self.text, tuple(self.frames))


class _Printed(BaseModel):
    model_config = ConfigDict(strict=True)

    text: _Text
    frames: _Frames


class _Answers(BaseModel):
    model_config = ConfigDict(strict=True)

    versions: Annotated[list[_Text], Field(max_length=_MOST)]
    results: Annotated[dict[str, dict[str, Any]], AfterValidator(_is_shallow)]


class ImportReport(BaseModel):
    """The result of `in_pyodide/import_server.py`, or a replacement by the author's modules."""

    model_config = ConfigDict(strict=True)

    error: _Text | None = None
    traceback: _Text | None = None
    raised: Annotated[list[_Raised], Field(max_length=_MOST)] = []
    printed: _Printed | None = None
    name: _Text = ""
    title: _Text | None = None
    version: _Text | None = None
    instructions: _Text | None = None
    allowed_origins: Annotated[list[_Text], Field(max_length=_MOST)] = []
    dialect_origins: dict[_Text, Annotated[list[_Text], Field(max_length=_MOST)]] = {}
    tools: Annotated[list[_Tool], Field(max_length=_MOST)] | None = None
    modules: Annotated[list[_Text], Field(max_length=_MOST)] = []
    setup: _Setup | None = None
    views: dict[_Text, _Text] = {}
    draws: bool = False
    answers: Annotated[list[_Answers], Field(max_length=_MOST)] = []
    sources: Annotated[list[_Text], Field(max_length=_MOST)] = []

    def failure(self, code: Mapping[str, bytes], entry: str, kind: str, origin: Path) -> str:
        """Return why the server does not start, as sentences; with the traceback if the reason is unknown.

        Args:
            code: The server's code, by path in its import folder.
            origin: The folder of the author's files on this machine, for tracebacks.
        """
        error = explain([item.as_raised() for item in self.raised], code, entry)
        shown = (self.traceback or "").replace(f"{SERVER_PATH}/", f"{origin}/").rstrip()
        sentences = error.sentences(self.error or "")
        reason = f"{sentences}\n{shown}" if shown and not error.what else sentences
        return visible(f"The {kind} {entry!r} does not start in the page: {reason}")

    def description(self, code: Mapping[str, bytes], remarks: Sequence[str] = ()) -> ServerDescription:
        """Return the description of the server.

        Args:
            code: The server's code, by path in its import folder.
            remarks: Further notes.
        """
        own = {name: tuple(entries) for name, entries in self.dialect_origins.items()}
        return ServerDescription(
            name=self.name,
            title=self.title,
            version=self.version,
            instructions=self.instructions,
            origins=OriginEntries(tuple(self.allowed_origins), own),
            tools=None if self.tools is None else tuple(self.tools),
            modules=tuple(self.modules),
            setup=None if self.setup is None else self.setup.as_inspected(),
            notes=(*self._printed(code), *map(visible, (*unreachable_views(self.views), *remarks))),
            draws=self.draws,
            answers=tuple(item.model_dump() for item in self.answers),
        )

    def _printed(self, code: Mapping[str, bytes]) -> tuple[str, ...]:
        if self.printed is None:
            return ()
        place = Code(code).place([(path, line, name) for path, line, name in self.printed.frames])
        text = self.printed.text.partition("\n")[0][:_MOST_QUOTED]
        where = f" ({place})" if place else ""
        note = (
            f"The program prints to its standard output{where}: {visible(text)!r}. In a page that is the console and "
            "the client's log; it does not disturb MCP."
        )
        return (note,)


def checked_report(result: object, entry: str, kind: str) -> ImportReport:
    """Check a report.

    Args:
        entry: `module:object`, for errors.
        kind: `"server"` or `"page"`, for errors.

    Raises:
        BuildError: It cannot be published.
    """
    try:
        return ImportReport.model_validate(result)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"])) or "the whole"
        raise BuildError(
            f"The {kind} {entry!r} describes itself in a way that cannot be published ({place}: {first['msg']}): "
            "its name, title, version, instructions and tools must be short texts and plain JSON."
        ) from error
