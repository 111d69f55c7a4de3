"""docs/examples/scale: by its schemas, by the checks of the balancers themselves, and names that have to agree."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import typer.main
import yaml

from mcpframe.kit.cli.main import app
from tests.support.balancers import EXAMPLE, HAPROXY, KINDS, NGINX, Kind, configuration
from tests.support.other_sdks import sdk_folder
from tests.support.suites import except_for

JSON = dict[str, Any]
PORTS = {"b1": 18001, "b2": 18002}


def compose() -> JSON:
    return yaml.safe_load((EXAMPLE / "compose.yaml").read_text("utf-8"))


def kubernetes() -> list[JSON]:
    return list(yaml.safe_load_all((EXAMPLE / "kubernetes.yaml").read_text("utf-8")))


def manifest(kind: str, name: str) -> JSON:
    [found] = [each for each in kubernetes() if (each["kind"], each["metadata"]["name"]) == (kind, name)]
    return found


def balancer_in_kubernetes() -> str:
    text: str = manifest("ConfigMap", "balancer")["data"]["haproxy.cfg"]
    return text


@pytest.mark.parametrize("kind", except_for(KINDS, HAPROXY, NGINX), ids=str)
def test_the_program_accepts_its_configuration(kind: Kind, tmp_path: Path) -> None:
    file = tmp_path / kind.file
    text = configuration(kind, PORTS, 18000, tmp_path)
    file.write_text(text, "utf-8")
    assert not re.search(r"\[?warn", kind.check(file), re.IGNORECASE)
    file.write_text(text.replace("connect", "conect"), "utf-8")
    with pytest.raises(AssertionError):
        kind.check(file)


def test_haproxy_accepts_its_configuration_in_kubernetes(tmp_path: Path) -> None:
    file = tmp_path / "haproxy.cfg"
    file.write_text(balancer_in_kubernetes() + "\n", "utf-8")
    HAPROXY.check(file)


def test_haproxy_has_the_same_rules_in_kubernetes() -> None:
    def rules(text: str) -> list[str]:
        lines = [line.strip() for line in text.splitlines()]
        start = lines.index("defaults")
        return [line for line in lines[start:] if line and not line.startswith(("#", "server ", "default-server "))]

    assert rules(balancer_in_kubernetes()) == rules((EXAMPLE / "haproxy.cfg").read_text("utf-8"))


def parsed(command: list[str]) -> dict[str, Any]:
    """Parse a command line as `mcpframe` does; fails on an option or a value that it does not have."""
    root: Any = typer.main.get_command(app)
    with root.commands[command[0]].make_context(command[0], command[1:]) as context:
        return dict(context.params)


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MCPFRAME_BROWSERS", "MCPFRAME_TOKENS"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("empty")
def test_the_bridges_of_compose_have_the_names_that_the_balancers_know() -> None:
    services = compose()["services"]
    bridges = {
        name: parsed(shlex.split(service["command"]))
        for name, service in services.items()
        if name[0] == "b" and "command" in service
    }
    assert {name: options["name"] for name, options in bridges.items()} == {"b1": "b1", "b2": "b2"}
    for name, options in bridges.items():
        grace = int(services[name]["stop_grace_period"].removesuffix("s"))
        assert (options["http"], options["port"]) == (True, 8717)
        assert 0 < options["drain"] < grace
    for file in ("haproxy.cfg", "nginx.conf"):
        assert set(re.findall(r"\b(b\w+):8717", (EXAMPLE / file).read_text("utf-8"))) == set(bridges)
    known = services["b1"]["environment"]["MCPFRAME_BROWSERS"]
    assert re.findall(r"http://(\w+):9222", known) == [name for name in services if name.startswith("chrome")]


@pytest.mark.usefixtures("empty")
def test_the_bridges_of_kubernetes_have_the_names_that_the_balancer_knows() -> None:
    bridges = manifest("StatefulSet", "bridge")["spec"]
    pod = bridges["template"]["spec"]
    [container] = pod["containers"]
    names = []
    for index in range(bridges["replicas"]):
        options = parsed([word.replace("$(INDEX)", str(index)) for word in container["args"]])
        names.append(options["name"])
        assert 0 < options["drain"] < pod["terminationGracePeriodSeconds"]
        assert options["port"] == container["ports"][0]["containerPort"]
    servers = re.findall(r"server (\w+) bridge-(\d)\.bridge\.", balancer_in_kubernetes())
    assert servers == [(name, str(index)) for index, name in enumerate(names)] * 3
    browsers = manifest("StatefulSet", "browser")["spec"]["replicas"]
    assert options["browsers"] == [f"http://browser-{index}.browser:9222" for index in range(browsers)]


def of_compose(content: JSON) -> None:
    folder = sdk_folder("scale") / "check_jsonschema" / "builtin_schemas" / "vendor"
    jsonschema.validate(content, json.loads((folder / "compose-spec.json").read_text("utf-8")))


@pytest.mark.extended
@pytest.mark.parametrize("name", ["compose.yaml", "compose.nginx.yaml"])
def test_compose_files_are_of_their_schema(name: str) -> None:
    content = yaml.safe_load((EXAMPLE / name).read_text("utf-8"))
    of_compose(content)
    content["services"]["balancer"]["prots"] = ["8080:8080"]
    with pytest.raises(jsonschema.ValidationError, match="prots"):
        of_compose(content)


def of_kubernetes(file: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "kubernetes_validate", "--strict", "--kubernetes-version", "1.32", str(file)]
    environment = {**os.environ, "PYTHONPATH": str(sdk_folder("scale"))}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)


@pytest.mark.extended
def test_the_manifest_of_kubernetes_is_of_its_schemas(tmp_path: Path) -> None:
    outcome = of_kubernetes(EXAMPLE / "kubernetes.yaml")
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert outcome.stdout.count("passed") == len(kubernetes())
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text((EXAMPLE / "kubernetes.yaml").read_text("utf-8").replace("replicas: 2", "replica: 2", 1), "utf-8")
    assert "replica" in of_kubernetes(wrong).stdout
