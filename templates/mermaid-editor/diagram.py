"""The source of the diagram, who changed it last, and what it was before."""

START = """flowchart LR
    person([You]) <-->|edit| diagram[This diagram]
    model([The model]) <-->|draw| diagram
"""

_MOST_STEPS = 50


class Diagram:
    """One diagram and its history."""

    def __init__(self, code: str = START) -> None:
        """Begin with this source."""
        self.code = code
        self._edited = False
        self._before: list[str] = []

    @property
    def code(self) -> str:
        """Its source. Lines end with line feeds, as in a textarea: what is drawn is no edit once it is shown there."""
        return self._code

    @code.setter
    def code(self, code: str) -> None:
        self._code = _with_line_feeds(code)

    def replace(self, code: str) -> None:
        """Take another source, from the model."""
        self._change(code)
        self._edited = False

    def edit(self, code: str) -> bool:
        """Take what the person has typed, and say whether it differs."""
        if _with_line_feeds(code) == self.code:
            return False
        self._change(code)
        self._edited = True
        return True

    def undo(self) -> bool:
        """Go back to what it was before the last change; say whether there was one. Counts as the person's edit."""
        if not self._before:
            return False
        self.code = self._before.pop()
        self._edited = True
        return True

    def take_edits(self) -> bool:
        """Return whether the person has changed the source since this was last asked, or the model drew."""
        edited, self._edited = self._edited, False
        return edited

    def _change(self, code: str) -> None:
        self._before = [*self._before[1 - _MOST_STEPS :], self.code]
        self.code = code


def _with_line_feeds(code: str) -> str:
    return code.replace("\r\n", "\n").replace("\r", "\n")
