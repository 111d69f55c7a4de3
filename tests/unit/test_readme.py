"""The README's ten-line server is one that works, and its links lead somewhere on the index, too."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from email.parser import Parser
from pathlib import Path

from mcp import Client

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
LINK = re.compile(r'(!?)\[[^\]]*\]\(([^)\s]*)|\b(src|srcset|href)="([^"]*)"')


async def test_the_server_on_the_first_screen_adds() -> None:
    [source] = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    assert README.index(source) < 1500
    module: dict[str, object] = {"__name__": "server"}
    exec(compile(source, "server.py", "exec"), module)
    async with Client(module["server"]) as client:  # type: ignore[arg-type]
        result = await client.call_tool("add", {"a": 1, "b": 2})
    assert result.structured_content == {"result": 3}


def test_on_the_index_no_link_and_no_picture_is_relative(tmp_path: Path) -> None:
    code = "import sys, hatchling.build as build; build.prepare_metadata_for_build_wheel(sys.argv[1])"
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, check=True, timeout=60)
    [file] = tmp_path.glob("*.dist-info/METADATA")
    metadata = Parser().parsestr(file.read_text("utf-8"))
    assert metadata["Description-Content-Type"].startswith("text/markdown")
    urls = dict(entry.split(", ", 1) for entry in metadata.get_all("Project-URL"))
    assert urls == tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["urls"]
    repository = urls["Repository"]
    assert all(url.startswith(repository) for url in urls.values())
    written, shown = LINK.findall(README), LINK.findall(str(metadata.get_payload()))
    assert len(written) == len(shown) > 10
    for (image, link, kind, source), (_, shown_link, _, shown_source) in zip(written, shown, strict=True):
        before, after = link or source, shown_link or shown_source
        if re.match(r"\w+:|#", before):
            assert after == before
            continue
        assert (ROOT / before.partition("#")[0]).exists()
        form = "raw" if image or kind in ("src", "srcset") else "blob"
        assert after == f"{repository}/{form}/main/{before}"
