# SPDX-License-Identifier: Apache-2.0
"""Figures in pages: filled from the store, caught where they differ, found where they are no reference."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from ringsmith.claims.figures import Figures, figures
from ringsmith.claims.ledger import Ledger
from ringsmith.errors import InputError
from ringsmith.gen import REPO, stale, write_all
from ringsmith.gen.pages import OLD, REFERENCE, formatted, refreshed, shown, without_ages
from ringsmith.results import Result, Run, read, save

COMMAND = "ringsmith simulate tiny ntt --on model --json"
KNOWN = Figures(
    ledger=Ledger(claims=(), errata=()),
    runs=(Run(id="tiny-ntt", command=COMMAND, places=("cycles", "busy", "other")),),
    stored={COMMAND: Result(command=COMMAND, values={"cycles": 12300.0, "busy": 0.25})},
)


@pytest.mark.parametrize(
    ("what", "text"),
    [
        ("tiny-ntt.cycles", "12,300"),
        ("tiny-ntt.cycles / 1000 : .2", "12.30"),
        ("tiny-ntt.busy : %", "25 %"),
        ("1 - tiny-ntt.busy : %", "75 %"),
        ("( tiny-ntt.cycles + 300 ) * 2", "25,200"),
    ],
)
def test_references_are_figures_and_what_follows_from_them(what: str, text: str) -> None:
    assert shown(what, KNOWN, "page.md") == text


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("tiny-ntt.cycle", "no figure 'tiny-ntt.cycle'"),
        ("tiny-ntt.other", "no value is stored of 'tiny-ntt.other'"),
        ("tiny-ntt.busy", "not whole"),
        ("tiny-ntt.busy : x", "the format 'x'"),
        ("tiny-ntt.cycles /", "cannot be read"),
        ("tiny-ntt.cycles / 0", "cannot be read"),
        ("tiny-ntt.cycles ( 3 )", "cannot be read"),
    ],
)
def test_a_reference_that_cannot_be_filled_is_refused(what: str, words: str) -> None:
    with pytest.raises(InputError, match=re.escape(words)):
        shown(what, KNOWN, "page.md")


def test_only_the_number_before_a_reference_is_filled() -> None:
    page = "It is **1,234<!--= tiny-ntt.cycles -->** cycles, busy for 7 %<!--= tiny-ntt.busy : % -->; 9 more."
    filled = "It is **12,300<!--= tiny-ntt.cycles -->** cycles, busy for 25 %<!--= tiny-ntt.busy : % -->; 9 more."
    assert refreshed(page, KNOWN, "page.md") == filled
    assert refreshed(filled, KNOWN, "page.md") == filled


def test_numbers_are_written_as_people_do() -> None:
    assert [formatted(value, form) for value, form in ((1e6, ""), (0.5, ".1"), (2.0, ".2"))] == [
        "1,000,000",
        "0.5",
        "2.00",
    ]


def copied(folder: Path) -> Path:
    """The specifications and the pages of this tree elsewhere."""
    for name in ("spec", "docs"):
        shutil.copytree(REPO / name, folder / name)
    write_all(folder)
    return folder


def test_a_figure_changed_by_hand_in_a_page_is_drift(tmp_path: Path) -> None:
    root = copied(tmp_path)
    assert stale(root) == []
    page = root / "docs" / "results" / "heaws.md"
    text = page.read_text()
    cycles = shown("heaws-multiply.cycles", figures(), "heaws.md")
    page.write_text(text.replace(cycles, "317,000"))
    assert stale(root) == [Path("docs/results/heaws.md")]
    other = root / "docs" / "devices.md"
    reference = REFERENCE.search(other.read_text())
    assert reference is not None
    other.write_text(other.read_text().replace(reference[0], reference[0].replace(reference["shown"], "3"), 1))
    assert stale(root) == [Path("docs/results/heaws.md"), Path("docs/devices.md")]
    write_all(root)
    assert page.read_text() == text
    assert stale(root) == []


def test_a_figure_changed_in_the_store_is_drift_in_each_page_that_shows_it(tmp_path: Path) -> None:
    root = copied(tmp_path)
    figure = figures().named["heaws-fast-multiply.cycles"]
    changed = read(root / "spec" / "results")[figure.command]
    save([Result(command=figure.command, values={**changed.values, "cycles": 1234567})], root / "spec" / "results")
    assert {Path("docs/results/heaws.md"), Path("docs/devices.md")} <= set(stale(root))
    write_all(root)
    page = (root / "docs" / "results" / "heaws.md").read_text()
    assert "1,234,567" in page
    # What has no known sources is older than they are, and the page says so.
    assert f"- `{figure.command}`: of " in page.partition(OLD)[2]


def test_what_grew_old_is_no_drift(tmp_path: Path) -> None:
    root = copied(tmp_path)
    page = root / "docs" / "results" / "heaws.md"
    page.write_text(without_ages(page.read_text()) + OLD + "\n- `another`: of yesterday\n")
    assert stale(root) == []


#: A measured number in a page: a figure of four digits or more in cycles, LUTs or flip-flops, a time, a ratio.
MEASURED = re.compile(
    r"\d[\d,.]* (?:cycles|LUT|FF|DSP|ms|µs|us)\b|\d[\d.]* times (?:faster|slower|as fast)|\d[\d.]*×", re.IGNORECASE
)
#: Pages that a generator of their own writes: their numbers are ranges and latencies of spec/, or one run of peers.
GENERATED = {"bench-peers.md", "isa.md", "knobs.md", "registers.md"}
#: Pages with measured numbers that are no references yet: how many there may be. To be lowered, never raised.
NOT_YET = {
    "README.md": 3,
    "client-aided.md": 8,
    "client.md": 6,
    "controller.md": 4,
    "devices.md": 17,
    "explore.md": 9,
    "flow.md": 1,
    "hardware.md": 6,
    "model.md": 4,
    "ntt8.md": 5,
    "parameters.md": 2,
    "performance.md": 17,
    "service.md": 11,
    "silicon.md": 4,
    "smart-grid.md": 21,
    "synthesis.md": 2,
    "tried.md": 29,
}


def loose(path: Path) -> list[str]:
    """The measured numbers of a page that are no references."""
    return MEASURED.findall(REFERENCE.sub("<!---->", path.read_text(encoding="utf-8")))


def test_measured_numbers_are_references() -> None:
    pages = [REPO / "README.md", REPO / "SECURITY.md", *sorted((REPO / "docs").glob("*.md"))]
    found = {path.name: loose(path) for path in pages if path.name not in GENERATED}
    assert {name: numbers for name, numbers in found.items() if len(numbers) > NOT_YET.get(name, 0)} == {}


def test_a_number_without_reference_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("It takes 12,300 cycles, 1.5 ms, 3<!--= tiny-ntt.cycles --> cycles, 2.5 times faster, 12 LUT.")
    assert loose(page) == ["12,300 cycles", "1.5 ms", "2.5 times faster", "12 LUT"]
