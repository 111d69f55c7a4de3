"""The reason of a failure, as text."""

from __future__ import annotations

from mcpframe.frame.core import payload


def reason_of(error: BaseException) -> str:
    """Return the message of an exception with its notes; of a group, those of its exceptions instead of its own.

    The class is named if there is no message, or if it is not an `Exception`.
    """
    if isinstance(error, BaseExceptionGroup):
        return "; ".join(dict.fromkeys(map(reason_of, error.exceptions)))
    try:
        text = str(error)
    except Exception:  # noqa: BLE001  an author's `__str__` may raise anything
        text = ""
    name = type(error).__name__
    if not text or not isinstance(error, Exception):
        text = f"{name}: {text}".removesuffix(": ")
    notes = getattr(error, "__notes__", None)
    written = [note for note in notes if isinstance(note, str)] if isinstance(notes, list) else []
    return payload.well_formed("\n".join([text, *written]))
