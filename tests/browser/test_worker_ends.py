"""A worker that is ended again and again: every call has its one right answer, and nothing of the worker is left."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from playwright.async_api import Page

from tests.browser.conftest import BundleOf, Origins
from tests.soak.engines import ChromiumRig
from tests.soak.framed import SCRIPT, FramedBounds, FramedSoak


@pytest.mark.extended
@pytest.mark.parametrize("ends", [4, 200])
async def test_ends_in_a_row_leave_no_worker_no_memory_and_no_wrong_answer(
    host_page: Page, bundle_of: BundleOf, origins: Origins, site: Path, ends: int
) -> None:
    shutil.copy(SCRIPT, site)
    soak = FramedSoak(ChromiumRig(host_page), "Chromium")
    tally = await soak.run({"soaked": bundle_of("soaked").url}, FramedBounds(0, ends, 0, 600), seed=ends)
    assert tally.lost == []
    assert tally.left["Chromium: workers"] == 0
    if ends >= 200:  # a page's memory grows at first, as files come in the background
        assert tally.problems == []
    assert sum(count for what, count in tally.measured.items() if "worker ends" in what) == ends
