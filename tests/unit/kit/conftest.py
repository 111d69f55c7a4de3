"""The bridge and the hub run on Linux and macOS: on Windows, their tests with pipes and processes are left out."""

from __future__ import annotations

import sys

_WITH_PIPES = [
    "browser/devtools/test_protocol.py",
    "edges/test_http.py",
    "edges/test_link.py",
    "edges/test_unread.py",
    "hub/native/test_connect.py",
    "hub/native/test_native.py",
    "hub/tabs/test_many_tabs.py",
    "hub/test_edges.py",
    "hub/test_log.py",
]
collect_ignore = _WITH_PIPES if sys.platform == "win32" else []
