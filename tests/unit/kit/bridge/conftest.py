"""The bridge runs on Linux and macOS: on Windows, its tests with pipes and processes are left out."""

from __future__ import annotations

import sys

_WITH_PIPES = ["test_devtools.py", "test_http.py", "test_link.py", "test_unread.py"]
collect_ignore = _WITH_PIPES if sys.platform == "win32" else []
