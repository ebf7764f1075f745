# SPDX-License-Identifier: Apache-2.0
"""The page in a browser, and points of a front run for real."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

import pytest

import ringsmith as rs
from ringsmith.explore.conftest import Searched
from ringsmith.explore.evaluate import Evaluator
from ringsmith.explore.page import page
from ringsmith.explore.parameters import candidates
from ringsmith.explore.search import Search, explore, packed
from ringsmith.explore.space import values_with
from ringsmith.explore.store import Results
from ringsmith.explore.verify import Verified, verify
from ringsmith.hw.synth import load_board
from ringsmith.runtime.kernel import Kernel

#: Sixteen builds, small enough for the RTL.
SMALL = ["lanes=2", "butterflies=2,4", "dual_port_slots=4,6", "single_port_slots=0", "moduli_slots=1", "moves=0,16"]

# Selecting, sorting and filtering run the page's own script; the body's data then tell what came of it.
PROBE = """<script>{
const cut = [...document.querySelectorAll('body *')].filter((e) => e.getBoundingClientRect().right > innerWidth + 1
  || (getComputedStyle(e).overflowX !== 'visible' && e.scrollWidth > e.clientWidth + 1))
  .map((e) => e.outerHTML.slice(0, 80));
const ticks = [...document.querySelectorAll('#plots svg')]
  .map((e) => [...e.querySelectorAll('.tick')].map((t) => t.textContent));
const text = (selector) => [...document.querySelectorAll(selector)].map((e) => e.textContent);
const wide = document.documentElement.scrollWidth > document.documentElement.clientWidth;
document.querySelectorAll('#heads button')[1].click();
const times = text('#rows tr td:nth-child(2)').map(Number);
document.querySelectorAll('#plots svg:first-child circle')[0].dispatchEvent(new Event('click'));
const marked = document.querySelectorAll('circle.selected').length;
const box = document.querySelector('#box').innerText, row = document.querySelector('tr.selected td').textContent;
document.querySelector('#best').checked = true; document.querySelector('#best').dispatchEvent(new Event('input'));
const front = document.querySelectorAll('#rows tr:not([hidden])').length;
const dots = document.querySelectorAll('#plots circle:not(.out)').length;
const html = document.documentElement.outerHTML;
parent.postMessage({ wide, cut, ticks, times, marked, box, row, front, dots, html }, '*');
}</script>"""
#: A browser's window is 500 pixels wide or more: the page is in a frame, and what it says in the body's data.
FRAME = """<script>
addEventListener('message', (e) => { document.body.dataset.seen = JSON.stringify(e.data); });
</script>
<iframe src="page.html" style="border: 0" width="WIDTH" height="2500"></iframe>"""


@pytest.fixture(scope="module")
def search(searched: Searched, tmp_path_factory: pytest.TempPathFactory) -> Search:
    return searched(tmp_path_factory.mktemp("explore") / "results.sqlite", SMALL)


@pytest.mark.parametrize("width", [1280, 400])
def test_the_page_selects_sorts_and_filters_in_a_browser(search: Search, tmp_path: Path, width: int) -> None:
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no Chromium: install the Debian package chromium")
    best = search.front[0]
    ran = Verified(best.name, "model", best.cycles or 0, 123_456_789, 0.0, 0.0, correct=True)
    made = page("</script><b>energy", search, {best.name: ran})
    assert not re.search(r"(?:src|href)=|https?://(?!www\.w3\.org/2000/svg)", made), "the page loads something"
    file = tmp_path / "page.html"
    file.write_text(made.replace("</body>", PROBE + "</body>"), encoding="utf-8")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
    frame = tmp_path / "frame.html"
    frame.write_text("<!doctype html><body>" + FRAME.replace("WIDTH", str(width)), encoding="utf-8")
    profile, size = f"--user-data-dir={tmp_path / 'profile'}", f"--window-size={max(width, 500) + 50},2600"
    done = subprocess.run(
        [browser, *flags, profile, size, "--dump-dom", frame.as_uri()],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    match = re.search(r'data-seen="([^"]*)"', done.stdout)
    assert match is not None, "the page's script did not get to the end"
    seen = json.loads(unescape(match[1]))
    evaluated = sum(point.status == "done" for point in search.points)
    assert not seen["wide"], f"the page is wider than {width} pixels"
    assert not seen["cut"], f"cut off at {width} pixels"
    for labels in seen["ticks"]:
        assert len(labels) > 4, "two axes"
        for label in labels:
            assert round_number(label), f"{label} is no round number"
    assert len(seen["times"]) == evaluated
    assert seen["times"] == sorted(seen["times"], reverse=True), "a second order by latency is downwards"
    assert seen["marked"] == 3, "the same point in all plots"
    assert seen["box"].startswith(seen["row"])
    assert seen["front"] == len(search.front)
    assert seen["dots"] == 3 * len(search.front)
    assert "123,456,789" in seen["html"], "the measured cycles stand in the table"


def round_number(label: str) -> bool:
    """Return whether an axis's label has at most two digits that are not zero, or three the last of which is 5."""
    digits = label.replace(",", "").replace(".", "").lstrip("-0").rstrip("0")
    return len(digits) <= 2 or (len(digits) == 3 and digits[-1] == "5")


def test_points_chosen_after_the_search_take_the_predicted_cycles(energy: Kernel, search: Search) -> None:
    ran = verify(energy, search, 2, "model")
    assert len({one.name for one in ran}) == 2
    for one in ran:
        assert one.correct
        assert one.measured == one.predicted, one.line()
        assert one.error <= one.bound, one.line()


def test_an_exact_kernel_is_searched_and_verified(tmp_path: Path) -> None:
    @rs.kernel(scheme="bfv", x=rs.Encrypted(8, low=-50, high=50), y=rs.Encrypted(8, low=-9, high=9))
    def product(x: Any, y: Any) -> Any:
        return x * y

    found = candidates(product, {"x": (8,), "y": (8,)})
    with Evaluator(packed(found), 1) as evaluator:
        made = explore(
            found, values_with([*SMALL, "rns_rate=0"]), load_board("zcu102"), Results(tmp_path / "r.sqlite"), evaluator
        )
    (one,) = verify(product, made, 1, "model")
    assert one.correct
    assert one.error == 0
    assert one.measured == one.predicted
    assert "noise budget" in page("product", made, {})


@pytest.mark.hw
@pytest.mark.slow
def test_a_point_takes_the_predicted_cycles_on_its_rtl(energy: Kernel, search: Search) -> None:
    (one,) = verify(energy, search, 1, "rtl")
    assert one.correct
    assert abs(one.off) < 0.01, one.line()
