"""Write the files of a target: an author's file is never overwritten, and its own earlier one is renewed.

Each file has a mark with the hash of the rest of its text. So an edited file is recognized as its author's, without a
record elsewhere.
"""

from __future__ import annotations

import difflib
import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from mcpframe.kit.base.cache import make_public_folder, write_file
from mcpframe.kit.base.errors import PublishError
from mcpframe.kit.base.locking import locked

UNSIGNED = f"mcpframe-{'0' * 16}"
"""The mark of a text that is not signed yet; every format has a place for it, in JSON the fragment of `$schema`."""
MARKED = f"# {UNSIGNED}: `mcpframe publish` renews this file until it is edited.\n"
"""The mark as a comment."""
_MARK = re.compile(r"mcpframe-[0-9a-f]{16}")

State = Literal["new", "renewed", "unchanged"]


def signed(text: str) -> str:
    """Return a text with its hash in its first mark.

    Raises:
        ValueError: It has none.
    """
    mark = _MARK.search(text)
    if mark is None:
        raise ValueError("The text has no mark.")
    digest = hashlib.sha256((text[: mark.start()] + text[mark.end() :]).encode()).hexdigest()[:16]
    return f"{text[: mark.start()]}mcpframe-{digest}{text[mark.end() :]}"


def is_own(text: str) -> bool:
    """Return whether a text was signed and is unchanged since."""
    return bool(_MARK.search(text)) and signed(text) == text


def is_own_file(path: Path) -> bool:
    """Return whether a file is there that mcpframe has written, and nobody has edited.

    Raises:
        PublishError: It cannot be read.
    """
    text = _read(path)
    return text is not None and is_own(text)


def write_own(files: Mapping[Path, str]) -> dict[Path, State]:
    """Write texts, each signed. None is written if one of the files is its author's.

    Args:
        files: The unsigned texts, by path.

    Returns:
        What became of each file.

    Raises:
        PublishError: One is there, and its author's. The details have the difference.
        WriteError: One cannot be written.
    """
    states: dict[Path, State] = {}
    for path, text in files.items():
        earlier = _read(path)
        if earlier is None:
            states[path] = "new"
        elif earlier == signed(text):
            states[path] = "unchanged"
        elif is_own(earlier):
            states[path] = "renewed"
        else:
            raise PublishError(
                f"{path} is not as mcpframe wrote it, so it is yours, and nothing was written. Take over what you need "
                f"of this, or move your file away and run the command again:\n{_difference(path, earlier, text)}"
            )
    for path, state in states.items():
        if state != "unchanged":
            make_public_folder(path.parent)
            with locked(path):
                write_file(path, signed(files[path]).encode(), public=True)
    return states


def _read(path: Path) -> str | None:
    """Return the text of a file, with the line ends of Unix: a checkout on Windows may have changed them."""
    if not path.exists() and not path.is_symlink():
        return None
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PublishError(f"{path} is there, but cannot be read ({error}): move it away.") from error


def _difference(path: Path, earlier: str, text: str) -> str:
    lines = difflib.unified_diff(
        earlier.splitlines(), signed(text).splitlines(), str(path), "mcpframe's", lineterm="", n=2
    )
    return "\n".join(lines)
