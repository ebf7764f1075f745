# SPDX-License-Identifier: Apache-2.0
"""Figures in pages: filled from the store, caught where they differ, found where they are no reference."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from ringsmith.claims.figures import Figures, figures
from ringsmith.claims.ledger import Ledger
from ringsmith.errors import InputError
from ringsmith.gen import peers
from ringsmith.gen.files import REPO, stale, write_all
from ringsmith.gen.pages import OLD, REFERENCE, formatted, refreshed, shown, without_ages
from ringsmith.results import Record, Result, Run, load_records, read, save
from ringsmith.results.peers import load_machines, save_machine

COMMAND = "ringsmith simulate tiny ntt --on model --json"
KNOWN = Figures(
    ledger=Ledger(claims=(), errata=()),
    runs=(Run(id="tiny-ntt", command=COMMAND, places=("cycles", "busy", "other")),),
    stored={COMMAND: Result(command=COMMAND, values={"cycles": 12300.0, "busy": 0.25})},
    records=(Record(id="once", command="c", commit="abc", date="2026-11-20", on="a phone", values={"ms": 2.5}),),
)


@pytest.mark.parametrize(
    ("what", "text"),
    [
        ("tiny-ntt.cycles", "12,300"),
        ("tiny-ntt.cycles / 1000 : .2", "12.30"),
        ("tiny-ntt.busy : %", "25 %"),
        ("1 - tiny-ntt.busy : %", "75 %"),
        ("( tiny-ntt.cycles + 300 ) * 2", "25,200"),
        ("once.ms * 2 : .1", "5.0"),
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


def test_a_machine_beside_other_libraries_is_drift_of_its_page(tmp_path: Path) -> None:
    root = copied(tmp_path)
    page = root / "docs" / "bench-peers.md"
    sections = page.read_text().count("\n## ")
    machine = load_machines(root / "spec" / "results" / "peers")[0]
    row = machine.rows[0]
    rows = (row, replace(row, level="avx2", ratio=1.25), replace(row, level="portable", ratio=0.75))
    other = replace(machine, machine="Another, family 1 model 2", rows=rows, tables={}, limits="")
    save_machine(other, root / "spec" / "results" / "peers")
    assert stale(root) == [Path("docs/bench-peers.md")]
    write_all(root)
    text = page.read_text()
    assert "| operation | Another, family 1 model 2 | Another, family 1 model 2, held to AVX2 |" in text
    assert f"| {row.operation} | {row.ratio:.2f} | 1.25 |" in text
    assert text.count("\n## ") == sections + 1
    section = text.partition("\n## Another")[2].partition("\n## ")[0]
    assert [line for line in section.splitlines() if line.startswith("### ")] == [
        "### Held to AVX2", "### Without vector instructions",
    ]  # fmt: skip


def test_what_grew_old_is_no_drift(tmp_path: Path) -> None:
    root = copied(tmp_path)
    page = root / "docs" / "results" / "heaws.md"
    page.write_text(without_ages(page.read_text()) + OLD + "\n- `another`: of yesterday\n")
    assert stale(root) == []


def test_a_peer_built_by_hand_has_its_figures_from_its_record() -> None:
    machines, records = load_machines(), load_records()
    (record,) = (record for record in records if record.id == peers.HEXL)
    changed = replace(record, values={**record.values, "multiply_us": 12345.0})
    assert "707 µs for a BFV multiplication" in peers.page(machines, records)
    assert "12345 µs for a BFV multiplication" in peers.page(machines, (changed,))
    assert "By hand" not in peers.page(machines, ())


#: A measured number in a page: a figure of four digits or more in cycles, LUTs or flip-flops, a time, a ratio.
MEASURED = re.compile(
    r"\d[\d,.]* (?:cycles|LUT|FF|DSP|ms|µs|us)\b|\d[\d.]* times (?:faster|slower|as fast)|\d[\d.]*×", re.IGNORECASE
)
#: Pages that a generator of their own writes: their numbers are ranges and latencies of spec/, or runs of peers.
GENERATED = {"bench-peers.md", "isa.md", "knobs.md", "registers.md"}
#: Numbers that are no measurements of ours, by page, with the reason.
EXCEPTIONS = {
    "tried.md": {"": "a laboratory notebook: throw-away benchmarks, of which no command is left"},
    "agreed-benchmarks.md": {"2.2 ms": "CryptoLab's, as published", "38 ms": "CryptoLab's, as published"},
    "client.md": {
        "737 ms": "SEAL-Embedded's, as published",
        "77 ms": "SEAL-Embedded's, as published",
        "1.6 cycles": "an assumption about a Cortex-M4",
        "1.0 cycles": "an assumption about a Cortex-M4",
    },
    "controller.md": {
        "4,000 cycles": "a round size of an instruction",
        "70 cycles": "a range over instructions of SERV",
    },
    "devices.md": {},
    "explore.md": {"8.2 ms": "coxHE's, as published"},
    "flow.md": {"42 ms": "bytes over the clock of the line"},
    "hardware.md": {
        "13,807 LUT": "HEAWS's, as published",
        "6 cycles": "a latency of spec/latency.yaml",
        "25 cycles": "a latency of the memory's side",
        "224 cycles": "the aim's formula",
    },
    "model.md": {
        "20 cycles": "a setting of ideal memory",
        "229,155 cycles": "CoFHEE's tensor with twists, by its formula",
        "42 ms": "bytes over the clock of the line",
    },
    "performance.md": {},
    "service.md": {"40 ms": "a setting of the server"},
    "silicon.md": {
        "24,841 cycles": "CoFHEE's, as published",
        "83,777 cycles": "CoFHEE's, as published",
        "210,647 cycles": "CoFHEE's, as published",
    },
    "smart-grid.md": {"1,730 ms": "HEAWS's, as published", "9,460 ms": "HEAWS's, as published"},
    "synthesis.md": {"1,753 LUT": "HEAWS's, as published", "4 DSP": "HEAWS's, as published"},
}


def loose(path: Path) -> list[str]:
    """The measured numbers of a page that are no references."""
    return MEASURED.findall(REFERENCE.sub("<!---->", path.read_text(encoding="utf-8")))


def test_measured_numbers_are_references() -> None:
    pages = [REPO / "README.md", REPO / "SECURITY.md", *sorted((REPO / "docs").glob("*.md"))]
    found = {path.name: set(loose(path)) for path in pages if path.name not in GENERATED}
    whole = {name for name, numbers in EXCEPTIONS.items() if "" in numbers}
    extra = {name: numbers - set(EXCEPTIONS.get(name, {})) for name, numbers in found.items() if name not in whole}
    assert {name: numbers for name, numbers in extra.items() if numbers} == {}
    unused = {name: set(numbers) - found[name] for name, numbers in EXCEPTIONS.items() if name not in whole}
    assert {name: numbers for name, numbers in unused.items() if numbers} == {}


def test_a_number_without_reference_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("It takes 12,300 cycles, 1.5 ms, 3<!--= tiny-ntt.cycles --> cycles, 2.5 times faster, 12 LUT.")
    assert loose(page) == ["12,300 cycles", "1.5 ms", "2.5 times faster", "12 LUT"]
