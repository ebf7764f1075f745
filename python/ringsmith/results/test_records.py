# SPDX-License-Identifier: Apache-2.0
"""Records and machines: read, refused where they are none, one machine's file replaced and no other."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from ringsmith.errors import InputError
from ringsmith.results import load_records
from ringsmith.results.expression import evaluate, names_in
from ringsmith.results.peers import Machine, Row, load_machines, save_machine

RECORD = """[[record]]
id = "phone"
command = "cargo test"
commit = "abc1234"
date = "2026-11-20"
on = "a phone"
[record.values]
encrypt_ms = 12.5
"""


def test_a_record_is_read(tmp_path: Path) -> None:
    (tmp_path / "records.toml").write_text(RECORD)
    (record,) = load_records(tmp_path / "records.toml")
    assert (record.id, record.on, record.values) == ("phone", "a phone", {"encrypt_ms": 12.5})
    assert load_records(tmp_path / "none.toml") == ()


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('on = "a phone"', "", "needs id, command"),
        ('on = "a phone"', "on = 3", "text on one line"),
        ("2026-11-20", "yesterday", "written as 2026-11-23"),
        ("12.5", '"much"', "must be a number"),
        ("12.5", "nan", "must be a number"),
        ("encrypt_ms", '"Encrypt ms"', "must be a number by a small name"),
        ('"phone"', '"Phone 1"', "small letters"),
        ("[[record]]", RECORD + "[[record]]", "stands twice"),
        ("[[record]]", "[record]", "no list of tables"),
    ],
)
def test_what_is_no_record_is_refused(old: str, new: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "records.toml"
    path.write_text(RECORD.replace(old, new, 1))
    with pytest.raises(InputError, match=words):
        load_records(path)


def test_expressions_of_figures() -> None:
    values = {"a.cycles": 300.0, "b-1.cycles": -2.0}
    assert evaluate("( a.cycles - b-1.cycles ) / 2", values.__getitem__) == 151.0
    assert names_in("( a.cycles - b-1.cycles ) / 2") == ["a.cycles", "b-1.cycles"]
    for wrong in ("a.cycles ** 2", "a.cycles / 0", "( a.cycles", "1 < 2", " + ".join(["1"] * 80)):
        with pytest.raises((InputError, KeyError)):
            evaluate(wrong, values.__getitem__)


ROW = Row(operation="ntt", n=4096, moduli="45", threads=1, ours_us=3.0, spread=0.01, peer="p", peer_us=6.0, ratio=2.0)
MACHINE = Machine(
    machine="Some, family 6 model 207, L1 32K", command="make bench WHAT=peers", commit="abc", date="2026-11-20",
    peers=("p",), left_out={"q": "go is missing"}, rows=(ROW, replace(ROW, n=8192, ratio=1.5)), tables={}, limits="",
)  # fmt: skip


def test_a_machine_replaces_its_own_rows_only(tmp_path: Path) -> None:
    other = replace(MACHINE, machine="Other, family 25 model 1")
    path = save_machine(MACHINE, tmp_path)
    save_machine(other, tmp_path)
    save_machine(replace(MACHINE, rows=(ROW,)), tmp_path)
    assert path.name == "family-6-model-207.json"
    assert load_machines(tmp_path) == (other, replace(MACHINE, rows=(ROW,)))
    assert MACHINE.ratios("ntt") == [1.5, 2.0]
    assert MACHINE.figures()["peers-family-6-model-207.ntt.least"] == 1.5


def test_rows_held_to_a_level_have_names_of_their_own(tmp_path: Path) -> None:
    held = (replace(ROW, level="avx2", ratio=1.2), replace(ROW, level="portable", ratio=0.9))
    path = save_machine(replace(MACHINE, rows=(ROW, *held)), tmp_path)
    (machine,) = load_machines(tmp_path)
    assert (machine.rows, machine.ratios("ntt"), machine.ratios("ntt", "avx2")) == ((ROW, *held), [2.0], [1.2])
    names = {name: value for name, value in machine.figures().items() if name.endswith(".least")}
    assert names == {"peers-family-6-model-207.ntt.least": 2.0, "peers-family-6-model-207-avx2.ntt.least": 1.2}
    path.write_text(path.read_text().replace('"avx2"', '"avx3"'))
    with pytest.raises(InputError, match="row 2: level must be one of best, avx2, portable, not 'avx3'"):
        load_machines(tmp_path)


@pytest.mark.parametrize(
    ("key", "value"), [("rows", [{"operation": "ntt"}]), ("rows", 3), ("machine", 3), ("left_out", []), ("more", 1)]
)
def test_what_is_no_machine_is_refused(key: str, value: object, tmp_path: Path) -> None:
    path = save_machine(MACHINE, tmp_path)
    path.write_text(json.dumps(json.loads(path.read_text()) | {key: value}))
    with pytest.raises(InputError, match=r"family-6-model-207\.json"):
        load_machines(tmp_path)


def test_a_row_that_would_break_a_table_is_refused(tmp_path: Path) -> None:
    path = save_machine(replace(MACHINE, rows=(replace(ROW, peer="a | b"),)), tmp_path)
    with pytest.raises(InputError, match="without"):
        load_machines(path.parent)
