"""The deadlines and limits that the frame's rooms share. Times are in seconds, sizes in bytes."""

from __future__ import annotations

from typing import Final

HANDSHAKE_SECONDS: Final = 30.0
"""From the first handshake to its answer, and from that to the acceptance: enough for a page that loads slowly."""
VIEW_HANDSHAKE_SECONDS: Final = 60.0
"""The same for a view of MCP Apps, which may load and start a runtime before it speaks."""
SERVER_HANDSHAKE_SECONDS: Final = 30 * 60.0
"""The longest that a server's page waits for its host: the host may ask its user first."""
SETUP_SECONDS: Final = 30 * 60.0
"""The longest that a setup may take: the user may be filling in a form."""
UNRESPONSIVE_SECONDS: Final = 20.0
"""The longest that a peer may be silent while requests are pending before it counts as unresponsive; a ping is sent
after half of that."""
TEARDOWN_SECONDS: Final = 5.0
"""The longest that a page may take to end before its host removes it."""
WORKER_GRACE_SECONDS: Final = 1.0
"""How long the event loop of a server's worker may take to answer, after a call was cancelled or has exceeded its time
limit, before the worker is ended."""
WORKER_START_SECONDS: Final = 60.0
"""How long a worker may take until it serves, after its page does or the worker before it has ended."""

MESSAGE_BYTES: Final = 64 * 1024 * 1024
"""The largest message, as JSON in UTF-8: browsers copy it several times."""
MESSAGE_NESTING: Final = 100
"""The deepest nesting of arrays and objects in a message."""
DEEPEST_NESTING: Final = 1000
"""The highest `max_nesting`: the JSON parser in Pyodide handles 5,000 levels; 10,000 crash it, and the runtime with
it."""
PENDING_REQUESTS: Final = 1000
"""Unanswered requests, in each direction."""
VIEW_PENDING_REQUESTS: Final = 100
"""The same for a view of MCP Apps: each may be a question to the user."""

LISTED_PAGES: Final = 100
"""The most pages of a list that are read: a page may be empty, and a list endless."""
LISTED_TOOLS: Final = 1000
"""The most tools of a list that are read, for WebMCP and for a hub, which accepts fewer."""

KEPT_VALUES: Final = 100
"""The most values that a session keeps (`mcpframe.kept`): the one that was used longest ago is dropped."""
KEPT_BYTES: Final = 256 * 1024 * 1024
"""The most bytes of these, and the largest value: a page has at most 2 to 4 GiB of memory."""
ALL_KEPT_BYTES: Final = 1024 * 1024 * 1024
"""The most bytes of all sessions of a page or process: the session that keeps most drops first."""
KEPT_PAGE_ROWS: Final = 1000
"""The most rows of a kept table that one `resources/read` answers."""
KEPT_PAGE_BYTES: Final = 1024 * 1024
"""The largest such answer for a table, an array or a text: it gets fewer rows, values or characters instead."""

FIRST_PAINT_BYTES: Final = 6_000
"""The largest HTML of a view's first paint: it is part of the view's text."""
FIRST_PAINT_HEIGHT: Final = 10_000
"""The greatest height of the bars in its place, in CSS pixels."""
