"""The deadline of an import during a build is the stated one, for a console script as well."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mcpframe.kit.base.errors import BuildError
from mcpframe.kit.bundle import server_import as inspect
from mcpframe.kit.bundle.packages.layers import SERVER_PATH, Layer, Layers
from mcpframe.kit.bundle.pyodide.job import ProgramTimeout


@pytest.mark.parametrize("settings", [{}, {"program": "weather"}])
def test_it_ends_after_the_stated_time(
    settings: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Hanging:
        identity = "hanging"

        def run(self, *_: object, timeout: float, **__: Any) -> Any:
            raise ProgramTimeout("import_server", timeout)

    monkeypatch.setenv("MCPFRAME_CACHE", str(tmp_path))
    layers = Layers({}, {}, (Layer("server", SERVER_PATH, {"weather.py": b""}),), {}, {})
    with pytest.raises(BuildError, match="more than 7 seconds") as caught:
        inspect.compile_and_inspect(
            "weather:main",
            SimpleNamespace(version="0"),  # type: ignore[arg-type]
            layers,
            [Hanging()],
            origin=tmp_path,
            kind="server",
            settings=settings,
            code={},
            wheels={},
            timeout=7,
        )
    assert str(caught.value.__cause__).count(" 7 seconds") == 1
