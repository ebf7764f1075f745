# SPDX-License-Identifier: Apache-2.0
"""A ledger that a stranger wrote: its page and its table show text, and run or style nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields, replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from ringsmith.claims.ledger import Claim, Erratum, Ledger, load
from ringsmith.claims.page import page
from ringsmith.cli import application
from ringsmith.errors import InputError

ATTACKS = (
    "<script>alert(1)</script>",
    "\"><img src=x onerror='alert(1)'>",
    "' onmouseover='alert(1)",
    "</span></td></tr></table><svg onload=alert(1)>",
    "</style><iframe src=javascript:alert(1)>",
    "-->]]><!--",
)
ENTRY: dict[str, Any] = {
    "id": "x", "paper": "cofhee", "where": "Table I", "quantity": "NTT", "published": 100, "unit": "cycles",
    "better": "lower", "includes": "nothing", "source": "paper", "command": "ringsmith simulate tiny ntt --json",
    "path": "cycles",
}  # fmt: skip
CLAIM = Claim(**{**ENTRY, "command": None, "path": None}, reason="none yet")
ERRATUM = Erratum(number=1, paper="cofhee", text="wrong")


class Tags(HTMLParser):
    """The tags of a page with the names of their attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, tuple[str, ...]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, tuple(name for name, _ in attrs)))


def tags(claim: Claim, erratum: Erratum) -> list[tuple[str, tuple[str, ...]]]:
    parser = Tags()
    parser.feed(page(Ledger(claims=(claim,), errata=(erratum,))))
    return parser.found


def attacked(attack: str) -> Iterator[tuple[str, Claim, Erratum]]:
    """Yield the ledger with the attack in each field of a claim and of an erratum, types disregarded."""
    for name in [field.name for field in fields(Claim) if field.name not in ("ours", "scale", "fast")]:
        value: Any = (attack,) if name == "errata" else attack
        yield name, replace(CLAIM, **{"note": "n", "errata": (1,), "command": "c", name: value}), ERRATUM
    changes: dict[str, Any]
    for name in ("number", "paper", "text"):
        changes = {name: attack}
        yield f"erratum {name}", CLAIM, replace(ERRATUM, **changes)


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_field_of_an_entry_adds_a_tag_or_an_attribute(attack: str) -> None:
    plain = {name: tags(claim, erratum) for name, claim, erratum in attacked("text")}
    for name, claim, erratum in attacked(attack):
        assert tags(claim, erratum) == plain[name], name


def toml(entry: dict[str, Any]) -> str:
    return "[[claim]]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in entry.items())


def of_text(folder: Path, text: str, measured: str = "[]") -> Ledger:
    (folder / "claims.toml").write_text(text)
    (folder / "simulate.json").write_text(measured)
    return load(folder / "claims.toml", folder)


@pytest.mark.parametrize("key", [*ENTRY, "note", "errata", "scale", "fast", "ours", "__class__"])
@pytest.mark.parametrize(
    "value", [[[1]], {"a": 1}, True, float("nan"), 10**400, "two\nlines", "\x1b[31mred", ["<script>"]]
)
def test_a_value_of_the_wrong_kind_is_refused_by_name(tmp_path: Path, key: str, value: Any) -> None:
    if key == "fast" and value is True:
        return
    spelled = "nan" if value != value else json.dumps(value) if not isinstance(value, dict) else "{a = 1}"
    text = toml({k: v for k, v in ENTRY.items() if k != key}) + f"{key} = {spelled}\n"
    with pytest.raises(InputError) as caught:
        of_text(tmp_path, text)
    assert len(str(caught.value).splitlines()) == 1
    assert len(str(caught.value)) < 400
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    ("text", "measured"),
    [
        ("claim = 3", "[]"),
        ("[claim]\nid = 'x'", "[]"),
        ("claim = [1]", "[]"),
        ("erratum = ['<script>']", "[]"),
        ("[[erratum]]\nnumber = '\"><script>'\npaper = 'x'\ntext = 'y'", "[]"),
        ("[[erratum]]\nnumber = 1", "[]"),
        ("a = " + "[" * 100_000, "[]"),
        ("a = " + "{b=" * 50_000, "[]"),
        ("a = 1" + "0" * 5000, "[]"),
        ("a.b = 1\n" * 3, "[]"),
        ("", "[" * 100_000),
        ("", "[1]"),
        ("", '{"x": 1}'),
        ("", '[{"values": {}}]'),
        ("", '[{"command": "c", "values": {"x": "<script>"}}]'),
        ("", '[{"command": "c", "values": {"x": NaN}}]'),
        ("", '[{"command": "c", "values": {"x": 1' + "0" * 5000 + "}}]"),
        ("", '[{"command": "c", "values": {}, "sources": {"rtl": 1}}]'),
        ("", '[{"command": "c", "values": {}, "commit": "a\\nb"}]'),
        ("", '[{"command": "c", "values": {}, "seconds": -1}]'),
        ("", '[{"command": "c", "values": {}, "colour": 1}]'),
        ("", '[{"command": "c", "values": {}}, {"command": "c", "values": {}}]'),
        ("", "nothing"),
    ],
)
def test_files_that_are_no_ledger(tmp_path: Path, text: str, measured: str) -> None:
    with pytest.raises(InputError) as caught:
        of_text(tmp_path, text, measured)
    assert len(str(caught.value).splitlines()) == 1
    assert len(str(caught.value)) < 500


def test_square_brackets_are_no_style(tmp_path: Path) -> None:
    named = "[red]alert[/red] [/] [link=file:///etc/passwd]x[/link] :smile:"
    (tmp_path / "claims.toml").write_text(toml({**ENTRY, "quantity": named, "unit": "[/bold]", "id": "[blink]x"}))
    arguments = ["claims", "--file", str(tmp_path / "claims.toml")]
    shown = CliRunner().invoke(application(), arguments, env={"COLUMNS": "300"})
    assert shown.exit_code == 0, shown.exception
    for part in (named, "[/bold]", "[blink]x"):
        assert part in shown.stdout
