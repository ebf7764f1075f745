# SPDX-License-Identifier: Apache-2.0
"""The ledger's own checks, its page in a real browser, and the regeneration of values."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from ringsmith.claims.ledger import CLAIMS, MEASURED, PAPERS, Ledger, estimate_key, load, read_measured
from ringsmith.claims.measure import drift, measure, pick, store
from ringsmith.claims.page import page, times, unit
from ringsmith.errors import InputError, ToolError

ENTRY = """
[[claim]]
id = "x"
paper = "cofhee"
where = "Table I"
quantity = "NTT"
published = 100
unit = "cycles"
better = "lower"
includes = "nothing else"
source = "paper"
command = "ringsmith simulate tiny ntt --json"
path = "cycles"
"""


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "claims.toml"
    path.write_text(text)
    return path


def ledger_of(tmp_path: Path, text: str, values: dict[str, float] | None = None) -> Ledger:
    stored = tmp_path / "measured.json"
    if values is not None:
        stored.write_text(json.dumps(values))
    return load(write(tmp_path, text), stored)


def test_every_paper_and_every_claim_is_complete() -> None:
    ledger = load()
    assert {claim.paper for claim in ledger.claims} == set(PAPERS)
    assert len(ledger.claims) >= 150
    assert len(ledger.errata) == 31
    assert all((claim.ours is None) == (claim.why_open is not None) for claim in ledger.claims)


def test_stored_values_belong_to_claims_with_a_command() -> None:
    claims = load().claims
    with_command = {claim.id for claim in claims if claim.command}
    with_command |= {estimate_key(claim.id) for claim in claims if claim.estimate_command}
    assert set(read_measured(MEASURED)) <= with_command


def test_ratio_follows_the_direction(tmp_path: Path) -> None:
    lower = ledger_of(tmp_path, ENTRY, {"x": 50}).claims[0]
    assert lower.ratio == 2
    higher = ledger_of(tmp_path, ENTRY.replace('"lower"', '"higher"'), {"x": 50}).claims[0]
    assert higher.ratio == 0.5


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('source = "paper"\n', "", "claim 'x' has no source"),
        ('paper = "cofhee"', 'paper = "nobody"', "names the paper 'nobody'"),
        ('path = "cycles"\n', "", "needs a command with its path"),
        ('better = "lower"', 'better = "more"', "better = 'more'"),
        ('unit = "cycles"', 'unit = "cycles"\ncolour = "red"', "unknown key 'colour'"),
        ('unit = "cycles"', 'unit = "cycles"\nerrata = [7]', "cites erratum 7"),
        ("published = 100", "published = ", "not TOML that can be read"),
    ],
)
def test_a_bad_entry_is_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        ledger_of(tmp_path, ENTRY.replace(old, new))


def test_an_id_stands_once(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="stands twice"):
        ledger_of(tmp_path, ENTRY + ENTRY)


def test_the_command_line_refuses_a_claim_without_source(tmp_path: Path) -> None:
    bad = write(tmp_path, ENTRY.replace('source = "paper"\n', ""))
    done = subprocess.run(
        [sys.executable, "-m", "ringsmith", "claims", "--file", str(bad)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1
    assert "has no source" in done.stderr


def test_json_has_the_documented_keys() -> None:
    from ringsmith.cli import application

    result = CliRunner().invoke(application(), ["claims", "--paper", "zynq", "--json"])
    assert result.exit_code == 0
    entries = json.loads(result.stdout)["claims"]
    keys = {
        "id",
        "paper",
        "where",
        "quantity",
        "published",
        "unit",
        "includes",
        "ours",
        "ratio",
        "command",
        "source",
        "reason",
    }
    assert entries
    assert all(keys <= set(entry) for entry in entries)
    assert {entry["paper"] for entry in entries} == {"zynq"}


@pytest.mark.parametrize(
    ("path", "value"), [("a.b", 3.0), ("list[name=two].cycles", 7.0), ("list[name=one].cycles", 5.0)]
)
def test_pick_follows_paths(path: str, value: float) -> None:
    data = {"a": {"b": 3}, "list": [{"name": "one", "cycles": 5}, {"name": "two", "cycles": 7}]}
    assert pick(data, path) == value


@pytest.mark.parametrize("path", ["a.c", "list[name=three].cycles", "a", "flag"])
def test_pick_refuses_what_is_no_number(path: str) -> None:
    with pytest.raises(ToolError):
        pick({"a": {"b": 3}, "list": [], "flag": True}, path)


def test_measure_runs_each_command_once_and_reports_failures(tmp_path: Path) -> None:
    second = ENTRY.replace('id = "x"', 'id = "y"').replace('path = "cycles"', 'path = "nowhere"')
    ledger = ledger_of(tmp_path, ENTRY + second)
    calls: list[str] = []

    def run(command: str) -> Any:
        calls.append(command)
        return {"cycles": 42}

    values, failures = measure(ledger.claims, progress=lambda _: None, run=run)
    assert calls == ["ringsmith simulate tiny ntt --json"]
    assert values == {"x": 42}
    assert list(failures) == ["y"]


ESTIMATED = """estimate_command = "ringsmith synth tiny --cells --json"
estimate_path = "scaled.total_uj"
estimate_scale = 2.0
"""


def test_an_estimate_stands_apart_from_values_of_ours(tmp_path: Path) -> None:
    entry = ENTRY.replace('command = "ringsmith simulate tiny ntt --json"', 'reason = "no chip"')
    open_entry = "\n".join(line for line in entry.splitlines() if not line.startswith("path"))
    ledger = ledger_of(tmp_path, open_entry + "\n" + ESTIMATED)
    values, failures = measure(ledger.claims, progress=lambda _: None, run=lambda _: {"scaled": {"total_uj": 3.5}})
    assert (values, failures) == ({"x (estimate)": 7.0}, {})
    measured = tmp_path / "measured.json"
    store(values, measured)
    claim = load(tmp_path / "claims.toml", measured).claims[0]
    assert (claim.ours, claim.ratio, claim.estimate, claim.why_open) == (None, None, 7.0, "no chip")
    assert claim.row()["estimate"] == 7.0
    assert 'data-name="estimate" data-value="7.0"' in page(load(tmp_path / "claims.toml", measured))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (ENTRY + ESTIMATED, "needs no estimate"),
        (ENTRY + 'estimate_path = "x"\n', "together"),
        (ENTRY + "estimate = 3\n", "unknown key 'estimate'"),
    ],
)
def test_an_estimate_beside_a_value_or_without_command_is_refused(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        ledger_of(tmp_path, text)


def test_store_merges_and_drift_names_the_difference(tmp_path: Path) -> None:
    path = tmp_path / "measured.json"
    store({"a": 1, "b": 2}, path)
    store({"b": 3}, path)
    assert read_measured(path) == {"a": 1, "b": 3}
    assert drift({"a": 1, "b": 3}, {"a": 1, "b": 4}) == ["b: stored 3, now 4"]


def test_figures_read_as_people_write_them(tmp_path: Path) -> None:
    assert [times(ratio) for ratio in (None, 1.01034, 54.72, 1234.5)] == ["–", "1.01×", "54.7×", "1,234×"]
    given = ledger_of(tmp_path, ENTRY).claims[0]
    assert unit(given) == " cycles"
    assert unit(ledger_of(tmp_path, ENTRY.replace("published = 100", 'published = "not given"')).claims[0]) == ""


def test_the_page_renders_and_sorts_in_a_browser(tmp_path: Path) -> None:
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no Chromium: install the Debian package chromium")
    ledger = load()
    # Sorting by the published figure runs the page's own script; the title then tells that it got to the end.
    probe = (
        "<script>document.querySelectorAll('#claims th button')[2].click();"
        "const cells=[...document.querySelectorAll('#claims tbody tr td:nth-child(3)')];"
        "const c=cells.map(x=>parseFloat(x.dataset.value)).filter(x=>!isNaN(x));"
        "document.body.dataset.sorted=c.every((v,i)=>!i||c[i-1]<=v);document.body.dataset.rows=c.length;"
        "document.body.dataset.wide=document.documentElement.scrollWidth>document.documentElement.clientWidth;"
        "document.body.dataset.sortable=document.querySelector('#claims th button').offsetHeight>0</script>"
    )
    file = tmp_path / "claims.html"
    file.write_text(page(ledger).replace("</body>", probe + "</body>"), encoding="utf-8")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
    done = subprocess.run(
        [
            browser,
            *flags,
            f"--user-data-dir={tmp_path / 'profile'}",
            "--window-size=500,900",
            "--dump-dom",
            file.as_uri(),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert 'data-sorted="true"' in done.stdout
    assert 'data-wide="false"' in done.stdout
    assert 'data-sortable="true"' in done.stdout  # at phone width too
    rows = re.search(r'data-rows="(\d+)"', done.stdout)
    assert rows is not None
    assert int(rows[1]) == sum(not isinstance(claim.published, str) for claim in ledger.claims)


def test_the_shipped_ledger_is_where_the_tool_looks() -> None:
    assert CLAIMS.name == "claims.toml"
    assert CLAIMS.exists()


@pytest.mark.hw
@pytest.mark.slow
def test_the_fast_subset_still_gives_the_stored_values() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "ringsmith", "claims", "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
