"""The playground's links, paths and archives, in Node. Whole: tests/browser/test_playground.py."""

from __future__ import annotations

import base64
import io
import json
import zipfile
import zlib
from typing import Any

import pytest

from mcpframe.kit.base.data import checkout_dir, static_dir, templates_dir
from mcpframe.kit.base.node import find_node

DRIVER = checkout_dir() / "tests" / "support" / "playground.mjs"
PIXEL = b"\x89PNG\0\xff"
PROJECT = {
    "name": "A projéct_1",
    "files": {
        "server.py": "print('é \U0001f40d')\n",
        "data/a.json": "[1]",
        "a.png": {"bytes": base64.b64encode(PIXEL).decode()},
    },
}


def results(*calls: tuple[str, Any]) -> list[dict[str, Any]]:
    """Call functions, and return the value or the error of each."""
    text = find_node().run(str(DRIVER), static_dir().as_uri(), json.dumps(calls), timeout=60)
    found: list[dict[str, Any]] = json.loads(text)
    return found


def packed(value: Any) -> str:
    text = value if isinstance(value, bytes) else json.dumps(value).encode()
    compressor = zlib.compressobj(9, wbits=-15)
    data = compressor.compress(text) + compressor.flush()
    return "#1." + base64.urlsafe_b64encode(data).decode().rstrip("=")


def test_a_project_comes_out_of_its_link_as_it_was() -> None:
    source = (templates_dir() / "sqlite-analyst" / "server.py").read_text("utf-8")  # of 250 lines
    back, link, template, nothing = results(
        ("there", PROJECT),
        ("linkOf", {"name": "a", "files": {"server.py": source}}),
        ("readLink", "#template=shop"),
        ("readLink", "#"),
    )
    assert back == {"value": PROJECT}
    assert len(link["value"]) < 7_000  # what zlib makes of it depends on its version
    assert template == {"value": {"template": "shop"}}
    assert nothing == {"value": None}


@pytest.mark.parametrize(
    ("fragment", "reason"),
    [
        ("#2.AAAA", "later version"),
        ("#1.", "damaged"),
        ("#1.A+/=", "damaged"),
        ("#1.AAAA", "damaged"),
        (packed(PROJECT)[:-9], "damaged"),
        (packed(b"\xff\xfe"), "damaged"),
        (packed("text"), "damaged"),
        (packed({"name": "x"}), "no project"),
        (packed({"name": "x", "files": []}), "no project"),
        (packed({"name": "x", "files": {}}), "no files"),
        (packed({"name": "x", "files": {"a.py": 1}}), "has no text"),
        (packed({"name": "x", "files": {"a.py": ""}, "data": {"b.py": "AA=="}}), "has no text"),
        (packed({"name": "x", "files": {"a.py": ""}, "data": {"../b.png": "AA=="}}), "leaves the folder"),
        (packed({"name": "x", "files": {"a.py": ""}, "data": {"b.png": "<>"}}), "damaged"),
        (packed({"name": "x", "files": {"a.py": "", "A.py": ""}}), "twice"),
        (packed({"name": "x", "files": {"a": "", "a/b": ""}}), "both a file and a folder"),
        (packed({"name": "x", "files": {f"{number}.py": "" for number in range(101)}}), "more than 100 files"),
        (packed({"name": "x", "files": {"a.py": "x" * 1_000_000}}), "larger than 1 MB"),
        (packed(b" " * 100_000_000), "too large"),
    ],
)
def test_other_links_are_refused(fragment: str, reason: str) -> None:
    [found] = results(("readLink", fragment))
    assert reason in found["error"]


def test_paths_stay_in_their_folder_and_can_be_read() -> None:
    good = ["server.py", "a/b/c.txt", ".env", "Ünïcode.py", "a-b_c.d"]
    bad = [
        "",
        "/a",
        "a/",
        "a//b",
        ".",
        "..",
        "a/../b",
        "a\\b",
        "c:a",
        "a\0b",
        "a\nb",
        "\u202ea.py",
        "a\u200b.py",
        "a ",
        "a.",
    ]
    bad += ["_mcpframe/x", "mcpframe.py", "__proto__", "a/__proto__/b", "aux.py", "x" * 201, 'a"b', "a<b"]
    found = results(*(("checkPath", path) for path in [*good, *bad]), ("checkPath", None))
    assert [each.get("error") for each in found[: len(good)]] == [None] * len(good)
    assert [path for path, each in zip(bad, found[len(good) :], strict=False) if "error" not in each] == []
    assert "error" in found[-1]


def test_hidden_characters_are_found_by_line() -> None:
    assert results(("hiddenLines", "a\r\n\tb\nc\u202ed\né\u200b\n")) == [{"value": [3, 4]}]


def test_names_can_be_names_of_files() -> None:
    names = [each["value"] for each in results(("nameOf", "<img>/../é x"), ("nameOf", None), ("nameOf", "a" * 99))]
    assert names == ["img..é x", "untitled", "a" * 60]


def test_a_zip_is_one() -> None:
    [made] = results(("zip", PROJECT["files"]))
    archive = zipfile.ZipFile(io.BytesIO(base64.b64decode(made["value"])))
    assert archive.testzip() is None
    assert archive.namelist() == list(PROJECT["files"])
    assert archive.read("server.py").decode() == PROJECT["files"]["server.py"]
    assert archive.read("a.png") == PIXEL


HOST, STRANGER = "https://chat.example", "https://stranger.example"


def test_a_relay_knows_windows_by_their_source_and_pins_the_first_allowed_origin() -> None:
    events = [
        ("server", "null", "opening"),
        ("server", "https://site.example", "of a page in the frame"),
        ("other", HOST, "of another window"),
        ("host", STRANGER, "not allowed"),
        ("host", STRANGER, "not allowed, again"),
        ("host", HOST, "answer"),
        ("host", HOST, {"type": "mcpframe-files", "files": {}}),
        ("server", "null", {"type": "mcpframe-files-wanted"}),
        ("server", "null", "accepted"),
        ("host", STRANGER, "after the pin"),
        ("host", "null", "after the pin"),
    ]
    [posted] = results(("relayed", {"hosts": [HOST, "https://other.example"], "events": events}))
    refusal = {"type": "mcpframe-origin-refused", "origin": STRANGER}
    assert posted["value"] == {
        "host": [["opening", "*"], [refusal, STRANGER], ["accepted", HOST]],
        "server": [["answer", "*"]],  # its origin is opaque, and has no name
    }


def test_a_relay_serves_a_host_of_opaque_origin_only_where_it_is_named() -> None:
    events = [("host", "null", "answer"), ("server", "null", "accepted")]
    named, anyone = results(*(("relayed", {"hosts": [each], "events": events}) for each in ("null", "*")))
    assert named["value"] == {"host": [["accepted", "*"]], "server": [["answer", "*"]]}
    refusal = {"type": "mcpframe-origin-refused", "origin": "null"}
    assert anyone["value"] == {"host": [[refusal, "*"], ["accepted", "*"]], "server": []}


@pytest.mark.parametrize(
    ("allowed", "hosts"),
    [
        ('["https://chat.example", "http://localhost:8000"]', ["https://chat.example", "http://localhost:8000"]),
        ('["*"]', ["*"]),
        ('{ sep = ["https://chat.example"] }', ["https://chat.example"]),
        ('["https://chat.example/"]', None),
        ('["chat.example"]', None),
        ("[1]", None),
        ("[]", None),
    ],
)
def test_a_link_says_in_its_pyproject_who_may_embed_it(allowed: str, hosts: list[str] | None) -> None:
    [found] = results(("hostsOf", {"pyproject.toml": f"[tool.mcpframe]\nallowed_origins = {allowed}\n"}))
    if hosts is None:
        assert "Say which pages may embed this server" in found["error"]
    else:
        assert found == {"value": hosts}


def test_versions_name_what_changed_and_the_oldest_go_first() -> None:
    before = {"a.py": "1", "b.py": "2", "p.png": {"bytes": "AAE="}, "q.png": {"bytes": "AAE="}}
    after = {"a.py": "1", "c.py": "2", "p.png": {"bytes": "AAI="}, "q.png": {"bytes": "AAE="}, "toString": "x"}
    sizes = [{"bytes": each} for each in (15_000_000, 9_000_000, 9_000_000, 1)]
    changed, many, large, huge, none = results(
        ("changed", [before, after]),
        ("surplus", [{"bytes": 1, "at": at} for at in range(53)]),
        ("surplus", sizes),
        ("surplus", [{"bytes": 1}, {"bytes": 30_000_000}]),
        ("surplus", []),
    )
    assert changed == {"value": ["b.py", "c.py", "p.png", "toString"]}
    assert [each["at"] for each in many["value"]] == [0, 1, 2]
    assert large == {"value": sizes[:1]}
    assert huge == {"value": [{"bytes": 1}]}
    assert none == {"value": []}
