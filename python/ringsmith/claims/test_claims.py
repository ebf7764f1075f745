# SPDX-License-Identifier: Apache-2.0
"""The ledger's own checks, its page in a real browser, and the regeneration of values."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ringsmith.claims.figures import figures
from ringsmith.claims.ledger import CLAIMS, PAPERS, Ledger, load
from ringsmith.claims.page import page, times, unit
from ringsmith.errors import InputError
from ringsmith.results import Result, save

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


NTT = "ringsmith simulate tiny ntt --json"


def ledger_of(tmp_path: Path, text: str, values: dict[str, float] | None = None) -> Ledger:
    if values is not None:
        save([Result(command=NTT, values=values)], tmp_path)
    return load(write(tmp_path, text), tmp_path)


def test_every_paper_and_every_claim_is_complete() -> None:
    ledger = load()
    assert {claim.paper for claim in ledger.claims} == set(PAPERS)
    assert len(ledger.claims) >= 150
    assert len(ledger.errata) == 31
    assert all((claim.ours is None) == (claim.why_open is not None) for claim in ledger.claims)


def test_every_stored_value_is_wanted_and_none_is_kept_twice() -> None:
    known = figures()
    kept = {(command, place) for command, result in known.stored.items() for place in result.values}
    assert kept - {(command, place) for command, places in known.wanted.items() for place in places} == set()


def test_ratio_follows_the_direction(tmp_path: Path) -> None:
    lower = ledger_of(tmp_path, ENTRY, {"cycles": 50}).claims[0]
    assert lower.ratio == 2
    higher = ledger_of(tmp_path, ENTRY.replace('"lower"', '"higher"'), {"cycles": 50}).claims[0]
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


ESTIMATED = """estimate_command = "ringsmith synth tiny --cells --json"
estimate_path = "scaled.total_uj"
estimate_scale = 2.0
"""


def test_an_estimate_stands_apart_from_values_of_ours(tmp_path: Path) -> None:
    entry = ENTRY.replace('command = "ringsmith simulate tiny ntt --json"', 'reason = "no chip"')
    open_entry = "\n".join(line for line in entry.splitlines() if not line.startswith("path"))
    save([Result(command="ringsmith synth tiny --cells --json", values={"scaled.total_uj": 3.5})], tmp_path)
    ledger = ledger_of(tmp_path, open_entry + "\n" + ESTIMATED)
    assert ledger.wanted() == {"ringsmith synth tiny --cells --json": {"scaled.total_uj"}}
    claim = ledger.claims[0]
    assert (claim.ours, claim.ratio, claim.estimate, claim.why_open) == (None, None, 7.0, "no chip")
    assert claim.row()["estimate"] == 7.0
    assert 'data-name="estimate" data-value="7.0"' in page(ledger)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (ENTRY + ESTIMATED, "needs no estimate"),
        (ENTRY + 'estimate_path = "x"\n', "together"),
        (ENTRY + "estimate = 3\n", "unknown key 'estimate'"),
        (ENTRY + 'estimate_figure = "once.ms"\n', "needs no estimate"),
        (ENTRY + 'figure = "once.ms"\n', "or a figure"),
    ],
)
def test_an_estimate_beside_a_value_or_without_command_is_refused(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        ledger_of(tmp_path, text)


RECORD = """[[record]]
id = "once"
command = "c"
commit = "abc"
date = "2026-11-20"
on = "a phone"
[record.values]
ms = 2.5
"""


def test_a_figure_is_an_expression_of_records(tmp_path: Path) -> None:
    (tmp_path / "records.toml").write_text(RECORD)
    entry = ENTRY.replace('command = "ringsmith simulate tiny ntt --json"', 'figure = "once.ms * 20"')
    entry = "\n".join(line for line in entry.splitlines() if not line.startswith("path")) + "\n"
    assert ledger_of(tmp_path, entry).claims[0].ours == 50.0
    with pytest.raises(InputError, match=r"no run and no record has 'twice\.ms'"):
        ledger_of(tmp_path, entry.replace("once.ms", "twice.ms"))


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


def test_what_is_below_1_stands_first_with_its_reason() -> None:
    ledger = load()
    below = sorted((claim for claim in ledger.claims if (claim.ratio or 1) < 1), key=lambda claim: claim.ratio or 1)
    rows = re.findall(r'<tr id="([^"]+)"', page(ledger))
    assert below
    assert rows[: len(below)] == [claim.id for claim in below]
    assert page(ledger).count("below 1:</span>") == len(below)
    assert page(ledger).count("▼ ") == len(below)
    assert not [claim.id for claim in below if not claim.note], "what is below 1 says why in its note"


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


#: What no reason may say where the store holds a result of the same preset: `synth` or `simulate` by these words.
DENIALS = {"synth": r"not synthesi[sz]ed", "simulate": r"not (measured|simulated|run|varied)"}
#: A reason that points at a value of ours is none: that value belongs into the ledger.
POINTS_AT_OURS = re.compile(r"(prints?|measures?) ours|figures in docs|: \d[\d.e-]* by ")


def contradicted(reason: str, commands: set[str]) -> bool:
    """Whether the store has what a reason denies: a result of a preset that it names, by the verb it speaks of."""
    return any(
        command.split()[1] == verb and re.search(rf"(?<![\w-]){re.escape(command.split()[2])}(?![\w-])", reason)
        for verb, words in DENIALS.items()
        if re.search(words, reason)
        for command in commands
    )


def test_no_reason_is_contradicted_by_the_store() -> None:
    commands = set(figures().stored)
    assert [claim.id for claim in load().claims if claim.reason and contradicted(claim.reason, commands)] == []
    assert [claim.id for claim in load().claims if claim.reason and POINTS_AT_OURS.search(claim.reason)] == []


@pytest.mark.parametrize(
    ("reason", "found"),
    [
        ("the preset heaws-x6 is not synthesized", True),
        ("an addition with its transfers is not measured on heaws yet", True),
        ("the preset heaws-x7 is not synthesized", False),
        ("no board here", False),
    ],
)
def test_a_contradicted_reason_is_found(reason: str, found: bool) -> None:
    commands = {"ringsmith synth heaws-x6 --board vu9p-f1 --json", "ringsmith simulate heaws ntt --json"}
    assert contradicted(reason, commands) == found
