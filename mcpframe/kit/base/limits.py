"""Deadlines and limits shared by the rooms of the tool chain. Times are in seconds."""

from __future__ import annotations

from typing import Final

ANSWER_SECONDS: Final = 30.0
"""How long a web server may be silent where no option of the command says so."""
LIST_SECONDS: Final = 60.0
"""How long a server may take for all pages of one list."""
SERVER_PAGES: Final = 1000
"""Pages of a list of the author's own server: more than `LISTED_PAGES`, as a complete list is the purpose."""
START_SECONDS: Final = 60.0
"""How long a view under test may take to start: a cold start of Pyodide under load takes long."""

EARLY_MESSAGES: Final = 100
"""Messages that a page, and a view's text, keep until there is a listener. Python calls an unanswered host again."""
VIEW_LOADING_SECONDS: Final = 30.0
"""How long the page of a bundle may take to load in a view."""
VIEW_CALLING_SECONDS: Final = 0.1
"""How long it may take to call its host after that; its first bytes do."""
VIEW_PAINTING_SECONDS: Final = 0.2
"""How long it waits for its first paint, in a view's own document, until it starts Python."""
VIEW_DRAWING_SECONDS: Final = 1.0
"""How long it may take to draw, until its progress is shown in place of the first paint."""
VIEW_STARTING_SECONDS: Final = 60.0
"""How long it may take to run once the host has answered, until the text of the result stands in for it."""
VIEW_FILLED_PIXELS: Final = 320
"""The least height that a view asks for if its content fills its frame, and has none of its own; in CSS pixels."""
VIEW_HELD_CHARACTERS: Final = 100_000
"""The longest text of a result that a view's text still holds after the bundle has got the result."""

MOST_SESSIONS = 8
"""The largest number of sessions: each has its own Python in a tab of the browser. Many clients never end theirs, so
the longest idle one is ended first; its client would then get a 404, and start a new session.
"""
