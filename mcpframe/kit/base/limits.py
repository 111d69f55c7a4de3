"""Deadlines and limits shared by the rooms of the tool chain. Times are in seconds."""

from __future__ import annotations

from typing import Final

LIST_SECONDS: Final = 60.0
"""How long a server may take for all pages of one list."""
SERVER_PAGES: Final = 1000
"""Pages of a list of the author's own server: more than `LISTED_PAGES`, as a complete list is the purpose."""
START_SECONDS: Final = 60.0
"""How long a view under test may take to start: a cold start of Pyodide under load takes long."""
