# SPDX-License-Identifier: Apache-2.0
"""The page of the knobs."""

from __future__ import annotations

import ast
import json
import re

from ringsmith.gen.build import Build, Held, Key, Value

HEADER = """\
<!-- SPDX-License-Identifier: Apache-2.0 -->
<!-- Generated from spec/build.yaml by `python -m ringsmith.gen`; do not edit. -->
# The knobs of a build

A preset (`spec/presets/NAME.toml`, or a file of your own) names the preset that is its `base` and sets what differs; a
key that neither sets has its default. A base is the name of a preset or the path of a file, from the folder of the
file that names it. `ringsmith show PRESET` prints every key with its value and where that comes from; `--set key=value`
changes one. The RTL has knobs as parameters, a device tells them in its info block ([registers.md](registers.md)).

| knob | meaning | may be | default | parameter | info block |
|---|---|---|---|---|---|
"""


NTT8 = """
## Another top: the 8-point accelerators
A preset with `top = "ntt8"` ([ntt8.md](ntt8.md)) sets these instead.

| knob | meaning | may be | default | parameter | info block |
|---|---|---|---|---|---|
"""


def render(build: Build, ntt8: Build) -> str:
    """Return the text of `docs/knobs.md`."""
    text = HEADER + "".join(_row(value) for value in build.knobs) + _keys(build)
    text += "\n## What follows from them\n\n| value | meaning | is | parameter | info block |\n|---|---|---|---|---|\n"
    text += "".join(_row(value) for value in build.derived)
    rules = (f"- `{rule.value}` must be {_plain(rule.must)}: `{ast.unparse(rule.holds)}`." for rule in build.rules)
    text += "\n## What they owe each other\n\n" + "\n".join(rules) + "\n"
    return text + NTT8 + "".join(_row(value) for value in ntt8.knobs) + _keys(ntt8)


def _keys(build: Build) -> str:
    """The table of the keys that are no hardware."""
    rows = (f"| `{key.name}` | {key.doc} | {_default(key)} |\n" for key in build.keys)
    return "\n| other key | meaning | default |\n|---|---|---|\n" + "".join(rows)


def _default(entry: Value | Key) -> str:
    """The default as TOML writes it."""
    return "" if entry.default is None else f"`{json.dumps(entry.default)}`"


def _row(value: Value) -> str:
    legal = f"`{ast.unparse(value.follows)}`" if value.follows else _plain(value.legal.text) if value.legal else ""
    default = [] if value.follows else [_default(value)]
    held = [_held(value, value.parameter), _held(value, value.register)]
    cells = [f"`{value.name}`", value.doc, legal, *default, *held]
    return f"| {' | '.join(cells)} |\n"


def _plain(text: str) -> str:
    """Without what a message adds in braces."""
    return re.sub(r" = \{[^}]*\}|[{}]", "", text)


def _held(value: Value, held: Held | None) -> str:
    if held is None:
        return ""
    formula = ast.unparse(held.formula)
    return f"`{held.name}`" if formula == value.name else f"`{held.name}` = `{formula}`"
