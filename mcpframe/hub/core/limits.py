"""The deadlines and limits of the hub. Times are in seconds, texts in characters.

Of the frame's limits the hub uses `MESSAGE_BYTES`, `PENDING_REQUESTS` and `LISTED_TOOLS`.
"""

from __future__ import annotations

from typing import Final

# Calls

REQUEST_SECONDS: Final = 10.0
"""How long a tab may take for a call, or between two of its progress notifications."""
CALL_SECONDS: Final = 600.0
"""The longest that a call may take, even if its page still reports progress."""
CALL_SENDS: Final = 3
"""How often a repeatable call is sent at most, if its tab ends."""
PENDING_CALLS: Final = 256
"""Unanswered calls of one tab."""
CALL_ID_CHARACTERS: Final = 256
"""The longest id of a call."""
HUB_MESSAGE_BYTES: Final = 16 * 1024 * 1024
"""The largest message between the hub and a page, or from a client, as JSON in UTF-8."""
HUB_MESSAGE_NESTING: Final = 128
"""The deepest nesting of arrays and objects in such a message: more than a page's own `MESSAGE_NESTING`, as its results
are wrapped once."""

# Tabs

CONNECT_SECONDS: Final = 2.0
"""How long a connected tab may take to register the called tool, and the browser to answer about a tab."""
TAB_START_SECONDS: Final = 2.0
"""How long an opened or reloaded tab may take to register its first tools."""
FIRST_LIST_SECONDS: Final = 5.0
"""How long lists of tools wait at first: for the tabs that are open when the hub starts, or for the leading tab."""
LOAD_SECONDS: Final = 30.0
"""How long a tab may take to load."""
LOAD_RETRIES: Final = 3
"""Retries of loading a tab."""
RETRY_SECONDS: Final = 1.0
"""The pause before a tab is loaded again."""
ELSEWHERE_SECONDS: Final = 5.0
"""How long an opened tab may show a page of another domain, as during a login."""

# Tools

PAGE_TOOLS: Final = 256
"""The most tools accepted from one page."""
TOOL_BYTES: Final = 64 * 1024
"""The largest tool, as JSON in UTF-8."""
TOOL_NESTING: Final = 32
"""The deepest nesting of arrays and objects in a tool."""
TOOL_NAME_CHARACTERS: Final = 256
"""The longest name of a page's tool."""
PAGE_TOOLS_CHARACTERS: Final = 1024 * 1024
"""The longest JSON text of one page's tools together: clients get those of all pages in one list."""
TOOL_PROBLEMS: Final = 10
"""The most invalid tools of a list that are logged one by one."""
URL_CHARACTERS: Final = 8192
"""The longest address of a page."""
LIST_BURST: Final = 50
"""The number of lists of a tab accepted at once."""
LIST_INTERVAL_SECONDS: Final = 0.25
"""The time until one more is accepted."""
CACHE_SECONDS: Final = 3600.0
"""How long the cached tools of a domain are kept without a tab."""
CACHED_DOMAINS: Final = 200
"""The number of domains kept; the least recently touched are dropped."""
CACHED_TOOLS: Final = 64
"""The number of tools kept of one domain; the oldest are dropped."""
CACHE_RECORD_BYTES: Final = 32 * 1024 * 1024
"""The largest stored record of a domain."""
CACHE_RECORD_NESTING: Final = 64
"""The deepest nesting of arrays and objects in it."""

# Names

NAME_CHARACTERS: Final = 128
"""The longest name of a tool: the limit of MCP and of WebMCP. Some clients demand 64."""
RETIRED_NAMES: Final = 5000
"""The number of names of removed tools that are kept."""
NUMBERED_TABS: Final = 5000
"""The number of tabs, and of domains, whose numbers are kept."""
KNOWN_FRAMES: Final = 500
"""The number of frames of a tab whose numbers are remembered."""

# Consent

CONSENT_SECONDS: Final = 45.0
"""How long the user may take to answer: many clients wait 60 seconds for a call, and the page needs some of them."""
CONSENT_DELAY_SECONDS: Final = 0.6
"""The time before a call can be allowed, so that a click meant for something else allows nothing."""
CONSENT_CHARACTERS: Final = 20_000
"""The longest text of a call's arguments that is shown."""
CLIENT_NAME_CHARACTERS: Final = 100
"""The longest name of a client that is shown."""

# Relays of pages

LIST_DEBOUNCE_SECONDS: Final = 0.5
"""How long a relay waits for further changes of a list."""
LIST_POLL_SECONDS: Final = 60.0
"""The time between reads of the list of a page that does not notify of changes."""
RELAYED_PAGES: Final = 50
"""The most pages of a list that a relay reads: fewer than `LISTED_PAGES`, as it reads the list after each change."""
ANSWER_SECONDS: Final = 10.0
"""How long a page may take to answer `initialize`, or to list its tools."""
FRAME_START_SECONDS: Final = 60.0
"""How long a frame may take to answer `initialize`: bundles are ready before they have started."""
FRAME_QUIET_SECONDS: Final = 3.0
"""How long the page's own scripts have to begin a session with a frame, before the hub does."""
PAGE_FRAMES: Final = 32
"""The most frames of a page that are watched."""
NEW_PAGE_SECONDS: Final = 5.0
"""How long a page just loaded is polled for a page server: old ones answer, but do not announce themselves."""
NEW_PAGE_POLL_SECONDS: Final = 1.0
"""The time between these polls."""
PAGE_POLL_SECONDS: Final = 60.0
"""The time between polls of a page without a server: one may still come, and announces itself."""
SERVER_RETRY_SECONDS: Final = 1.0
"""The time before a page server, or a document's tools, are looked for again after they have ended."""
DOCUMENT_END_SECONDS: Final = 2.0
"""How long a call waits for the end of its document, once the document cannot be reached."""

# Clients

HUB_CLIENTS: Final = 64
"""The most clients of a hub."""
ANSWER_BYTES: Final = 60 * 1024 * 1024
"""The largest answer to a client: ports of extensions, and native messaging, take `MESSAGE_BYTES`, and a larger message
would end the session."""
QUEUED_PROGRESS: Final = 64
"""The number of progress reports queued for a slow client; further ones are dropped."""
TO_EXTENSION_CHARACTERS: Final = 80_000
"""The longest piece of a message to the extension by native messaging: at most 12 bytes a character (two escapes) are
under 1 MiB."""
TO_PROGRAM_CHARACTERS: Final = 1_000_000
"""The longest piece in the other direction, where browsers allow 64 MiB."""
NATIVE_PIECES: Final = 8192
"""The most pieces of a message of native messaging; together they have at most `MESSAGE_BYTES` characters."""
NATIVE_FRAME_BYTES: Final = 32 * 1024 * 1024
"""The largest frame of native messaging that the extension reads."""

# A hub in a page

PAGE_HUB_CLIENTS: Final = 1000
"""The most clients of a hub in a page: each tab is one."""
PING_SECONDS: Final = 5.0
"""The time between two pings of the hub by a tab."""
PING_STRIKES: Final = 3
"""The number of unanswered pings after which the hub counts as unresponsive."""
NUMBER_SECONDS: Final = 1.0
"""How long a tab waits for the lock of its number: a reloaded page may start before the old one has quite ended."""
LEADER_SECONDS: Final = 10.0
"""How long a call waits for a leading tab."""
LEADER_RETRY_SECONDS: Final = 1.0
"""How long a tab whose hub has failed does not lead."""
RETURN_SECONDS: Final = 2.0
"""How long a call waits for a tool of the previous hub to come back."""
RELOAD_SECONDS: Final = 2.0
"""How long a tab whose port has ended may be reloading."""
READY_SECONDS: Final = 2.0
"""How long the server's first answer waits for a hub."""
HUB_NAME_CHARACTERS: Final = 2000
"""The longest id, address or window name between tabs."""
HUB_CONTROL_BYTES: Final = 64 * 1024
"""The largest control message between tabs."""
HUB_CONTROL_NESTING: Final = 8
"""The deepest nesting of arrays and objects in it."""

# A hub in an extension

WORKER_SECONDS: Final = 10.0
"""How long the service worker may take to answer; it may have to be started first."""
KEEP_ALIVE_SECONDS: Final = 20.0
"""The time between messages that keep it alive: browsers stop one whose ports are silent for 30 s, and the clients'
ports go through it."""
DECISION_SECONDS: Final = 60.0
"""How long the port of a new client waits for the user's decision."""
WAITING_PORTS: Final = 16
"""The most ports that wait for it."""
WAITING_PORTS_OF_ORIGIN: Final = 4
"""The most ports of one origin that wait for it, so that others have room."""
WAITING_MESSAGES: Final = 64
"""The most messages queued for a waiting port, with at most `HUB_MESSAGE_BYTES` characters; one with more is closed."""
FIRST_MESSAGE_BYTES: Final = 64 * 1024
"""The largest first message of a client from which its name is read."""
NATIVE_RETRY_SECONDS: Final = 5.0
"""The first pause before the native host is started again; each further one is twice as long."""
NATIVE_LONGEST_RETRY_SECONDS: Final = 300.0
"""The longest of these pauses."""
SCRIPT_PIECE_CHARACTERS: Final = 4_000_000
"""The longest piece of a message to or from a script in a page: Chrome takes 64 MiB, after its own escaping."""
SCRIPT_PIECES: Final = 64
"""The most pieces of such a message; together they have at most `MESSAGE_BYTES` characters."""
SCRIPT_NESTING: Final = 64
"""The deepest nesting of arrays and objects in it; a page's message inside is text."""
POPUP_SECONDS: Final = 0.05
"""How long the popup waits for further changes of the state that it shows."""
POPUP_TABS: Final = 64
"""The most tabs that the popup shows."""
POPUP_TOOLS: Final = 64
"""The most tools of a tab that it shows."""
POPUP_CHARACTERS: Final = 600
"""The longest text of a line that it shows."""
POPUP_LINES: Final = 200
"""The most lines of the log that it shows."""
