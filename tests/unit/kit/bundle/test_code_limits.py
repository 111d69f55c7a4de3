"""Static facts about a package's code: limits in a page, hosts, variables."""

from __future__ import annotations

import pytest

from mcpframe.kit.bundle.code.code_limits import look_at

CODE = b'''"""Asks https://documentation.example.net/ for the weather."""
import os, subprocess
from threading import Thread

API = "https://api.weather.gov"
KEY = os.environ["API_KEY"]
LEVEL = os.getenv("LOG_LEVEL", "info")


def fetch(path, city):
    """See https://docs.weather.gov/ for more."""
    os.environ.get("PROXY")
    Thread(target=fetch).start()
    subprocess.run(["curl", "http://localhost:80/"])
    return f"https://Data.Weather.gov:8443/{city}", "http://127.0.0.1/", "http://www.w3.org/", "https://no-dot/"
'''


def test_what_will_not_work_is_named_with_its_first_place() -> None:
    found = look_at({"w/b.py": CODE, "w/a.py": b"import socket\n\nopen('x')\nimport socket\n", "w/c.txt": CODE})
    assert [(limit.kind, limit.name, limit.place) for limit in found.limits] == [
        ("sockets", "socket", "w/a.py, line 1"),
        ("processes", "subprocess", "w/b.py, line 2"),
        ("threads", "Thread", "w/b.py, line 13"),
        ("files", "open", "w/a.py, line 3"),
    ]
    assert all(limit.meaning for limit in found.limits)


def test_hosts_and_variables() -> None:
    found = look_at({"w/b.py": CODE})
    assert found.hosts == ("https://api.weather.gov", "https://data.weather.gov:8443")
    assert found.variables == ("API_KEY", "LOG_LEVEL", "PROXY")


@pytest.mark.parametrize(
    ("code", "hosts"),
    [
        ('BASE = "https://api.example.io/v1"', ("https://api.example.io",)),
        ('print("See https://docs.weather.gov for more")', ()),
        ('AGENT = {"User-Agent": "weather/1 (https://github.com/who/weather)"}', ()),
        ('get(f"https://{lang}.wikipedia.org/w/api.php")', ("https://*.wikipedia.org",)),
        ('get("https://{}.zendesk.com/api".format(name))', ("https://*.zendesk.com",)),
        ('get("https://%s.zendesk.com/api" % name)', ("https://*.zendesk.com",)),
        ('get(f"https://api.weather.gov{path}")', ("https://api.weather.gov",)),
        ('get(f"https://{host}/api")', ()),
        ('get(f"{BASE}/api", "wss://live.weather.gov:443/")', ("wss://live.weather.gov:443",)),
    ],
)
def test_addresses_are_hosts_and_prose_is_not(code: str, hosts: tuple[str, ...]) -> None:
    assert look_at({"w.py": code.encode()}).hosts == hosts


def test_files_that_are_no_python_of_ours_are_passed_over() -> None:
    assert look_at({"a.py": b"print 'two'", "b.py": b"\0", "c.so": b"\x7fELF"}) == look_at({})
