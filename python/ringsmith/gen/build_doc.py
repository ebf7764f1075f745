# SPDX-License-Identifier: Apache-2.0
"""The page of the knobs."""

from __future__ import annotations

import ast
import re

from ringsmith.gen.build import Build, Held, Value

HEADER = """\
<!-- SPDX-License-Identifier: Apache-2.0 -->
<!-- Generated from spec/build.yaml by `python -m ringsmith.gen`; do not edit. -->
# The knobs of a build

A preset (`spec/presets/NAME.toml`, or a file of your own) sets each of these; `--set key=value` changes one. The RTL
has them as parameters, a device tells them in its info block ([registers.md](registers.md)). A preset also has `name`,
`paper`, `scheme`, `clock_mhz` and `serial_mhz` (megahertz at which times are reported), `operations` (what the runtime
hands over) and `prime_bits` (bits of each lane's modulus where nothing else is asked for).

| knob | meaning | may be | parameter | info block |
|---|---|---|---|---|
"""


NTT8 = """
## Another top: the 8-point accelerators
A preset with `top = "ntt8"` ([ntt8.md](ntt8.md)) sets these instead, and `modulus`: a prime 1 mod 16, or 0 for the
largest.

| knob | meaning | may be | parameter | info block |
|---|---|---|---|---|
"""


def render(build: Build, ntt8: Build) -> str:
    """Return the text of `docs/knobs.md`."""
    text = HEADER + "".join(_row(value) for value in build.knobs)
    text += "\n## What follows from them\n\n| value | meaning | is | parameter | info block |\n|---|---|---|---|---|\n"
    text += "".join(_row(value) for value in build.derived)
    rules = (f"- `{rule.value}` must be {_plain(rule.must)}: `{ast.unparse(rule.holds)}`." for rule in build.rules)
    text += "\n## What they owe each other\n\n" + "\n".join(rules) + "\n"
    return text + NTT8 + "".join(_row(value) for value in ntt8.knobs)


def _row(value: Value) -> str:
    legal = f"`{ast.unparse(value.follows)}`" if value.follows else _plain(value.legal.text) if value.legal else ""
    legal += f"; {value.default} if left out" if value.default else ""
    cells = [f"`{value.name}`", value.doc, legal, _held(value, value.parameter), _held(value, value.register)]
    return f"| {' | '.join(cells)} |\n"


def _plain(text: str) -> str:
    """Without what a message adds in braces."""
    return re.sub(r" = \{[^}]*\}|[{}]", "", text)


def _held(value: Value, held: Held | None) -> str:
    if held is None:
        return ""
    formula = ast.unparse(held.formula)
    return f"`{held.name}`" if formula == value.name else f"`{held.name}` = `{formula}`"
