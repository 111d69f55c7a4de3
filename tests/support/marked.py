"""The part of a documentation page that a command writes, between two marks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from mcpframe.kit.base.errors import ConfigError


@dataclass(frozen=True)
class MarkedPart:
    """A part of a page.

    Attributes:
        name: The name in both marks.
        command: The command that writes the part, named in the first mark.
    """

    name: str
    command: str

    @property
    def begin(self) -> str:
        """The line before the part."""
        return f"<!-- {self.name}: written by {self.command} -->\n"

    @property
    def end(self) -> str:
        """The line after the part."""
        return f"<!-- end of {self.name} -->\n"

    def read(self, page: Path) -> str:
        """Return the part's text.

        Raises:
            ConfigError: The page does not have the marks.
        """
        return self._split(page)[1].strip()

    def write(self, page: Path, text: str) -> None:
        """Replace the part's text.

        Raises:
            ConfigError: The page does not have the marks.
        """
        before, _, after = self._split(page)
        page.write_text(f"{before}{self.begin}\n{text.strip()}\n\n{self.end}{after}", "utf-8")

    def _split(self, page: Path) -> tuple[str, str, str]:
        before, begin, rest = page.read_text("utf-8").partition(self.begin)
        part, end, after = rest.partition(self.end)
        if not begin or not end:
            raise ConfigError(f"{page} needs the lines {self.begin.strip()!r} and {self.end.strip()!r}.")
        return before, part, after
