"""The files of each target, its limits, and what it costs."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from mcpframe.kit.base.data import static_dir
from mcpframe.kit.base.errors import PublishError
from mcpframe.kit.cli.main import main
from mcpframe.kit.publish.targets.costs import costs_of
from mcpframe.kit.publish.targets.deployment import BUILD_LOCK, Deployment
from mcpframe.kit.publish.targets.known import TARGETS
from mcpframe.kit.publish.targets.own_files import MARKED, is_own, signed
from mcpframe.kit.publish.targets.prepare import deployment_of, prepare
from mcpframe.kit.static_hosts.rules import FRESH, IMMUTABLE
from tests.support.small_site import FILES, POLICY

WRITTEN = {
    "github-pages": [".github/workflows/pages.yml"],
    "netlify": ["netlify.toml"],
    "cloudflare": ["wrangler.jsonc", "dist/.assetsignore"],
    "vercel": ["vercel.json", ".vercelignore"],
    "s3": ["publish-s3.sh"],
    "huggingface": ["dist/README.md"],
    "folder": [],
}


def text_of(site: Deployment, target: str) -> str:
    """Return the first file that a target writes, with the content of `site`."""
    prepare(site, TARGETS[target])
    return (site.base / WRITTEN[target][0]).read_text("utf-8")


@pytest.mark.parametrize("name", TARGETS)
def test_a_target_writes_own_files_and_then_changes_nothing(site: Deployment, name: str) -> None:
    before = {path for path in site.base.rglob("*") if path.is_file()}
    prepared = prepare(site, TARGETS[name])
    assert prepared.files == {site.base / path: "new" for path in WRITTEN[name]}
    assert {path for path in site.base.rglob("*") if path.is_file()} - before == set(prepared.files)
    assert all(is_own(path.read_text("utf-8")) for path in prepared.files)
    again = deployment_of(site.project, site.out)
    assert set(prepare(again, TARGETS[name]).files.values()) <= {"unchanged"}
    assert prepared.steps


def test_github_pages_builds_below_the_repository_s_root(project: Path) -> None:
    (project / ".git").mkdir()
    inner = project / "a server"
    inner.mkdir()
    for name in ("server.py", "pyproject.toml", "dist"):
        shutil.move(project / name, inner / name)
    site = deployment_of(inner, inner / "dist")
    prepare(site, TARGETS["github-pages"])
    text = (project / ".github/workflows/pages.yml").read_text("utf-8")
    assert "- run: \"mcpframe build 'a server' --out 'a server/dist'\" #" in text
    assert "path: a server/dist\n" in text
    assert not (inner / ".github").exists()


def test_a_folder_whose_name_yaml_would_read_as_something_else(project: Path) -> None:
    shutil.move(project / "dist", project / "- 1")
    prepare(deployment_of(project, project / "- 1"), TARGETS["github-pages"])
    assert 'path: "- 1"\n' in (project / ".github/workflows/pages.yml").read_text("utf-8")


def test_an_output_root_that_the_host_does_not_have(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "dist"
    shutil.move(project / "dist", elsewhere)
    site = deployment_of(project, elsewhere)
    with pytest.raises(PublishError, match="is not below"):
        prepare(site, TARGETS["netlify"])
    prepare(site, TARGETS["s3"])
    assert (elsewhere.parent / "publish-s3.sh").is_file()


def test_a_workflow_keeps_the_files_of_earlier_builds(project: Path) -> None:
    site = deployment_of(project, project / "dist", keep=24)
    text = text_of(site, "github-pages")
    assert "run: mcpframe build --keep-deploys 24 #" in text
    assert re.search(r"actions/cache@[0-9a-f]{40} .*\n.*\n +path: dist\n", text)
    assert text.index("actions/cache@") < text.index("run: mcpframe build")
    assert any("keep no files" in remark for remark in prepare(site, TARGETS["netlify"]).remarks)


def test_a_host_builds_with_the_version_that_has_built_here(project: Path, site: Deployment) -> None:
    kit = f"mcpframe[author,node]=={version('mcpframe')}"
    for name in ("github-pages", "netlify"):
        assert kit in text_of(site, name).replace("\\", "")
        unlocked = " ".join(prepare(site, TARGETS[name]).remarks)
        assert f"run mcpframe publish {name} again" in unlocked
        assert BUILD_LOCK in unlocked
    lock = project / BUILD_LOCK
    lock.write_text("mcpframe[author,node]==0.0.1 \\\n    --hash=sha256:00\nuv==1 \\\n    --hash=sha256:00\n")
    for name in ("github-pages", "netlify"):
        text = text_of(site, name)
        assert f"pip install --require-hashes -r {BUILD_LOCK}" in text
        assert kit not in text
        [remark] = [each for each in prepare(site, TARGETS[name]).remarks if BUILD_LOCK in each]
        assert "0.0.1" in remark
        assert f"echo '{kit}' | uv pip compile" in remark
    lock.write_text("mcpframe==0.0.1\n")
    with pytest.raises(PublishError, match="no mcpframe with hashes"):
        prepare(site, TARGETS["netlify"])


def test_the_tests_of_a_new_project_run_with_the_same_mcpframe(site: Deployment) -> None:
    target, tests = TARGETS["github-pages"], site.project / ".github/workflows/test.yml"
    tests.parent.mkdir(parents=True)
    new = (static_dir() / "new" / "workflow.yml").read_bytes()
    tests.write_bytes(new)
    assert prepare(site, target).files[tests] == "unchanged"
    tests.write_text(signed(MARKED + new.decode().partition("\n")[2].replace(f"=={version('mcpframe')}", "==0.0.1")))
    prepared = prepare(site, target)
    assert prepared.files[tests] == "renewed"
    assert tests.read_bytes() == new
    kit = f"mcpframe[node,test]=={version('mcpframe')}"
    assert f"echo '{kit}' | uv pip compile" in " ".join(prepared.remarks)

    lock = site.project / BUILD_LOCK
    for extras, locked in (("node,test", [True, True]), ("author,node", [True, False])):
        lock.write_text(f"mcpframe[{extras}]==0.0.1 \\\n    --hash=sha256:00\n")
        remarks = " ".join(prepare(site, target).remarks)
        texts = [path.read_text("utf-8") for path in (site.project / WRITTEN["github-pages"][0], tests)]
        assert [f"pip install --require-hashes -r {BUILD_LOCK}\n" in text for text in texts] == locked
        assert all(is_own(text) for text in texts)
        assert ("lacks mcpframe[test]" in remarks) == (not all(locked))
    assert 'pip install "mcpframe[node,test]==0.0.1"\n' in texts[1]

    tests.write_text("name: mine\n")
    assert tests not in prepare(site, target).files
    assert tests.read_text() == "name: mine\n"


def test_a_host_builds_a_page_that_can_be_installed_as_one(site: Deployment) -> None:
    entry = {"installable": {"manifest": "installable.json", "worker": "offline.js", "kept": []}}
    site = replace(site, manifests={site.name: {**site.manifests[site.name], **entry}})
    for name in ("github-pages", "netlify"):
        assert "mcpframe build --pwa" in text_of(site, name)


def test_a_site_that_no_host_may_frame_yet_is_noticed(site: Deployment) -> None:
    def remarks(*origins: str) -> str:
        manifest = {**site.manifests[site.name], "allowed_origins": list(origins)}
        return " ".join(prepare(replace(site, manifests={site.name: manifest}), TARGETS["folder"]).remarks)

    assert "pi may be framed by pages of your own machine only" in remarks("http://localhost:8000", "http://127.0.0.1")
    for origins in ((), ("*",), ("http://localhost:8000", "https://chat.example"), ("https://localhost.example",)):
        assert "your own machine" not in remarks(*origins)


def test_netlify_changes_no_file(site: Deployment) -> None:
    data = tomllib.loads(text_of(site, "netlify"))
    assert data["build"]["publish"] == "dist"
    assert data["build"]["command"].endswith("&& mcpframe build")
    assert data["build"]["processing"] == {"skip_processing": True}


def test_cloudflare_leaves_out_what_no_page_needs(project: Path, site: Deployment) -> None:
    site = replace(site, sizes={**site.sizes, "pi #1.html": 26_300_000})
    prepared = prepare(site, TARGETS["cloudflare"])
    assert any("pi #1.html is left out" in remark for remark in prepared.remarks)
    lines = (project / "dist/.assetsignore").read_text().splitlines()
    assert "*.gz" in lines
    assert "/pi\\ \\#1.html" in lines
    assert "/vercel.json" in lines
    assert not {"/_headers", "/_redirects"} & set(lines), "wrangler reads these"


@pytest.mark.parametrize("name", ["cloudflare", "vercel"])
def test_an_asset_that_is_compressed_itself_is_uploaded(site: Deployment, name: str) -> None:
    asset = "pi/assets-0123456789abcdef/some data.csv.gz"
    site = replace(site, sizes={**site.sizes, asset: 1})
    prepare(site, TARGETS[name])
    lines = (site.base / WRITTEN[name][1]).read_text().splitlines()
    assert lines[lines.index("*.gz") + 1] == "!/pi/assets-0123456789abcdef/some\\ data.csv.gz"
    assert "pi/index.html.gz" in site.copies
    assert asset not in site.copies


def test_vercel_gets_nothing_but_the_site(project: Path) -> None:
    (project / "out" / "my site").parent.mkdir()
    shutil.move(project / "dist", project / "out" / "my site")
    prepare(deployment_of(project, project / "out" / "my site"), TARGETS["vercel"])
    lines = (project / ".vercelignore").read_text().splitlines()[1:]
    assert lines == ["/*", "!/out", "/out/*", "!/out/my\\ site", "!/vercel.json", "*.gz"]


def test_the_name_of_a_worker(site: Deployment) -> None:
    for name, expected in {"Pi_Calculator": "pi-calculator", "x" * 80: "x" * 54, "π": "mcp-server"}.items():
        text = TARGETS["cloudflare"].files(replace(site, name=name))[site.base / "wrangler.jsonc"]
        assert json.loads(text.split("\n", 1)[1])["name"] == expected


def test_vercel_has_the_policies(site: Deployment) -> None:
    data = json.loads(text_of(site, "vercel"))
    assert data["outputDirectory"] == "dist"
    values = [header["value"] for rule in data["headers"] for header in rule["headers"]]
    assert POLICY in values
    assert IMMUTABLE in values


def test_the_readme_of_a_space(site: Deployment) -> None:
    front = text_of(site, "huggingface").split("---\n")[1]
    assert 'title: "Pi: \\"digits\\" 🥧"\nsdk: static\napp_file: "pi/index.html"\n' in front


@pytest.mark.skipif(os.name != "posix", reason="a script for sh")
def test_the_script_for_s3_sends_each_file_once_with_its_type_encoding_and_caching(
    site: Deployment, tmp_path: Path
) -> None:
    asset = "pi/assets-0123456789abcdef/data.csv.gz"
    (site.out / asset).write_bytes(b"\x1f\x8b of its author")
    prepare(site, TARGETS["s3"])
    log, tools = tmp_path / "log", tmp_path / "tools"
    tools.mkdir()
    # In place of `aws`: it applies the filters as `aws s3` does, the last one that matches counts.
    (tools / "aws").write_text(
        f"#!{sys.executable}\n"
        "import fnmatch, json, os, pathlib, sys\n"
        "words = sys.argv[1:]\n"
        "at = next(i for i, word in enumerate(words) if word.startswith('s3://'))\n"
        "root, to, rest = pathlib.Path(words[at - 1]), words[at], words[at + 1:]\n"
        "options = dict(zip(words, words[1:]))\n"
        "for path in sorted(p for p in root.rglob('*') if p.is_file()):\n"
        "    name, sent = path.relative_to(root).as_posix(), True\n"
        "    for kind, pattern in zip(rest, rest[1:]):\n"
        "        if kind in ('--exclude', '--include') and fnmatch.fnmatchcase(name, pattern):\n"
        "            sent = kind == '--include'\n"
        "    if sent:\n"
        "        got = [to, name, words[1], *(options.get(f'--{o}') for o in"
        " ('content-type', 'content-encoding', 'cache-control', 'profile')), path.read_bytes()[:2] == b'\\x1f\\x8b']\n"
        "        print(json.dumps(got), file=open(os.environ['LOG'], 'a'))\n"
    )
    (tools / "aws").chmod(0o755)
    environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "LOG": str(log)}
    command = ["sh", str(site.base / "publish-s3.sh"), "s3://bucket/deep/", "--profile", "me"]
    subprocess.run(command, env=environment, cwd="/", check=True, timeout=60)
    sent: list[Any] = [json.loads(line) for line in log.read_text().splitlines()]
    assert {each[0] for each in sent} == {"s3://bucket/deep"}
    assert sorted(each[1] for each in sent) == sorted([*FILES, asset, "pi/manifest.json"]), (
        "each file once, and no other"
    )
    assert {each[1] for each in sent[-2:]} == {"pi/index.html", "pi/manifest.json"}, "the pages are the last"
    types = {".js": "text/javascript", ".zip": "application/zip", ".wasm": "application/wasm", ".html": "text/html"}
    types |= {".svg": "image/svg+xml", ".bin": "application/octet-stream", ".json": "application/json"}
    for _, name, verb, kind, encoding, cache, profile, is_gzip in sent:
        if name == asset:
            assert (verb, encoding, is_gzip) == ("sync", None, True)
            continue
        is_hashed = name in FILES and name != "pi/index.html"
        assert (verb, cache) == (("sync", IMMUTABLE) if is_hashed else ("cp", FRESH)), name
        assert kind == types[Path(name).suffix]
        assert (encoding == "gzip") == is_gzip == FILES.get(name, (None, False))[1]
        assert profile == "me"


@pytest.mark.skipif(os.name != "posix", reason="a script for sh")
@pytest.mark.parametrize("words", [[], ["bucket"], ["s3://"]])
def test_the_script_for_s3_asks_for_a_bucket(site: Deployment, words: list[str]) -> None:
    prepare(site, TARGETS["s3"])
    script = str(site.base / "publish-s3.sh")
    done = subprocess.run(["sh", script, *words], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("usage: ")


@pytest.mark.parametrize(
    ("name", "sizes", "message"),
    [
        ("github-pages", {"large.bin": 100_000_001}, "large.bin has 100.0 MB"),
        ("github-pages", {f"{number}.bin": 90_000_000 for number in range(12)}, "takes at most 1,000 MB"),
    ],
)
def test_a_site_above_a_limit_is_not_prepared(site: Deployment, name: str, sizes: dict[str, int], message: str) -> None:
    with pytest.raises(PublishError, match=message):
        prepare(replace(site, sizes={**site.sizes, **sizes}), TARGETS[name])
    assert not (site.base / ".github").exists()


def test_a_file_of_a_bundle_above_cloudflare_s_limit(site: Deployment) -> None:
    large = {"path": "pi/assets-0123456789abcdef/video.mp4", "bytes": 26_300_000, "gzip_bytes": None, "sha256": ""}
    manifest = {**site.manifests["pi"], "files": [*site.manifests["pi"]["files"], large]}
    with pytest.raises(
        PublishError, match=r"video\.mp4 has 26\.3 MB, and Cloudflare Pages takes files of at most 26\.2 MB"
    ):
        prepare(replace(site, manifests={"pi": manifest}), TARGETS["cloudflare"])


def test_more_bundles_than_cloudflare_has_rules(site: Deployment) -> None:
    many = {f"pi-{number}": site.manifests["pi"] for number in range(100)}
    with pytest.raises(PublishError, match=r"100 bundles need 1\d\d rules of _headers, and Cloudflare Pages reads 100"):
        prepare(replace(site, manifests=many), TARGETS["cloudflare"])


def test_costs_are_those_of_what_a_host_leaves_uncompressed(site: Deployment) -> None:
    manifest = site.manifests["pi"]
    files = {entry["path"]: entry for entry in manifest["files"]}

    def more(*paths: str) -> float:
        return sum(files[path]["bytes"] - files[path]["gzip_bytes"] for path in paths) / 1e6

    costs = list(costs_of(TARGETS["folder"].host, manifest))
    first = more(*(path for path in files if FILES[path] == ("first", True)))
    later = more("_mcpframe/deferred.zip.0123456789abcdef.wasm")
    assert [cost.megabytes for cost in costs] == pytest.approx([first, later])
    assert costs[0].milliseconds == pytest.approx(first * 800), "at 10 Mbit/s"
    assert ".html, .js, .wasm" in costs[0].what
    [kept] = costs_of(TARGETS["github-pages"].host, manifest)
    assert (kept.megabytes, kept.milliseconds) == (0, 100)
    assert "6 files" in kept.what
    assert list(costs_of(TARGETS["s3"].host, manifest)) == [], "its files are stored compressed"
    earlier = {**manifest, "files": [{**entry, "loaded": None} for entry in manifest["files"]]}
    assert list(costs_of(TARGETS["github-pages"].host, earlier)) == []


def test_a_folder_that_is_not_complete(project: Path) -> None:
    with pytest.raises(PublishError, match="nothing has no bundle: run `mcpframe build` first"):
        deployment_of(project, Path("nothing"))
    page = project / "dist/pi/index.html"
    page.write_text("other")
    with pytest.raises(PublishError, match="is changed"):
        deployment_of(project, project / "dist")
    page.unlink()
    with pytest.raises(PublishError, match="is missing"):
        deployment_of(project, project / "dist")


def test_the_command(project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(project)
    monkeypatch.setattr(sys, "argv", ["mcpframe", "publish", "github-pages"])
    with pytest.raises(SystemExit) as ended:
        main()
    printed = capsys.readouterr().out
    assert ended.value.code == 0, printed
    assert re.search(r"first visit  pi: 7\.0 MB, 5\.6 s on a line of 10 Mbit/s\n", printed)
    assert re.search(r" \+[\d,]+ ms .*each visit", printed)
    assert "not compressed" not in printed
    monkeypatch.setattr(sys, "argv", ["mcpframe", "publish", "github-pages", "--json"])
    with pytest.raises(SystemExit):
        main()
    result = json.loads(capsys.readouterr().out)
    assert list(result["files"].values()) == ["unchanged"]
    assert result["costs"]["pi"][0]["milliseconds"] > 0
