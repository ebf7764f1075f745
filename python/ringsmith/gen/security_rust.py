# SPDX-License-Identifier: Apache-2.0
"""`spec/params/security.toml` as the engine's constants: a parser of it in the engine would be a tenth of its build."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ringsmith.errors import FormatError

_HEADER = """\
// SPDX-License-Identifier: Apache-2.0
// Generated from spec/params/security.toml by `python -m ringsmith.gen`.
//! The figures of the security tables.

use super::fixed_weight::Rows;
use super::table::{SecretKind, Table};

"""
#: The kinds of secret of the tables, as Rust writes them.
_SECRETS = {"ternary": "Ternary", "gaussian": "Gaussian"}


def render(path: Path) -> str:
    """The constants: `TABLES`, `ESTIMATES`, `FIXED_WEIGHT`.

    Raises:
        FormatError: for a file that lacks one of them, rows of another length, or a secret that is not known.
    """
    data = tomllib.loads(path.read_text("utf-8"))
    try:
        tables = "".join(_table(path, table) for table in data["table"])
        estimates = _rows(path, data["estimates"]["points"], 3, 1)
        fixed = data["fixed_weight"]
        weights, name = _rows(path, fixed["rows"], 3, 2), _text(fixed["name"])
    except KeyError as missing:
        raise FormatError(f"{path}: {missing.args[0]} is missing") from None
    return _HEADER + (
        f"pub(super) static TABLES: &[Table] = &[\n{tables}];\n\n"
        "/// `[n, log2(QP), bits]` of single runs, for ternary secrets and classical attacks.\n"
        f"pub(super) static ESTIMATES: &[[u32; 3]] = &[\n{estimates}];\n\n"
        f"pub(super) static FIXED_WEIGHT: Rows = Rows {{\n    name: {name},\n    rows: &[\n{weights}    ],\n}};\n"
    )


def _table(path: Path, table: dict[str, Any]) -> str:
    if table["secret"] not in _SECRETS:
        raise FormatError(f"{path}: secret {table['secret']!r}, but the tables know {', '.join(_SECRETS)}")
    return (
        f"    Table {{\n        id: {_text(table['id'])},\n        name: {_text(table['name'])},\n"
        f"        secret: SecretKind::{_SECRETS[table['secret']]},\n"
        f"        rows: &[\n{_rows(path, table['rows'], 4, 3)}        ],\n    }},\n"
    )


def _rows(path: Path, rows: Iterable[Sequence[int]], length: int, depth: int) -> str:
    for row in rows:
        if len(row) != length or not all(type(number) is int and 0 <= number < 1 << 32 for number in row):
            raise FormatError(f"{path}: the row {row}, but rows here are {length} whole numbers below 2^32")
    return "".join(f"{'    ' * depth}[{', '.join(map(str, row))}],\n" for row in rows)


def _text(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
