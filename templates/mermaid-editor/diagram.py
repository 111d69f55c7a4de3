"""The source of the diagram, its last author, and its history."""

START = """flowchart LR
    person([You]) <-->|edit| diagram[This diagram]
    model([The model]) <-->|draw| diagram
"""

_MOST_STEPS = 50


class Diagram:
    """One diagram and its history."""

    def __init__(self, code: str = START) -> None:
        """Start with this source."""
        self.code = code
        self._edited = False
        self._before: list[str] = []

    @property
    def code(self) -> str:
        """The source. Lines end with line feeds, as in a textarea, so that showing it is not an edit."""
        return self._code

    @code.setter
    def code(self, code: str) -> None:
        self._code = _with_line_feeds(code)

    def replace(self, code: str) -> None:
        """Set another source, from the model."""
        self._change(code)
        self._edited = False

    def edit(self, code: str) -> bool:
        """Set what the user has typed, and return whether it differs."""
        if _with_line_feeds(code) == self.code:
            return False
        self._change(code)
        self._edited = True
        return True

    def undo(self) -> bool:
        """Undo the last change, and return whether there was one. Counts as the user's edit."""
        if not self._before:
            return False
        self.code = self._before.pop()
        self._edited = True
        return True

    def take_edits(self) -> bool:
        """Return whether the user has changed the source since the last call of this, or the model's last change."""
        edited, self._edited = self._edited, False
        return edited

    def _change(self, code: str) -> None:
        self._before = [*self._before[1 - _MOST_STEPS :], self.code]
        self.code = code


def _with_line_feeds(code: str) -> str:
    return code.replace("\r\n", "\n").replace("\r", "\n")
