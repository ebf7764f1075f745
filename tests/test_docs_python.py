# SPDX-License-Identifier: Apache-2.0
"""The Python blocks of the documentation run, in order, in one namespace; the tables name what exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ringsmith.compiler.params.sets import check, named_sets
from ringsmith.errors import ParameterError

DOCS = Path(__file__).resolve().parents[1] / "docs"


@pytest.mark.parametrize(("name", "least"), [("python", 5), ("start", 1), ("first-kernels", 3)])
def test_the_blocks_of_a_page_run(name: str, least: int, tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / f"{name}.md").read_text(), re.DOTALL)
    assert len(blocks) >= least
    page = tmp_path / "page.py"
    page.write_text("\n".join(blocks))
    exec(compile(page.read_text(), str(page), "exec"), {"__name__": "page"})


def test_parameters_page_names_every_set() -> None:
    text = (DOCS / "parameters.md").read_text()
    for name in named_sets():
        family, _, degree = name.rpartition("-")
        assert f"`{name}`" in text or (f"`{family}-" in text and f"`-{degree}`" in text), name


@pytest.mark.parametrize("name", sorted(named_sets()))
def test_named_sets_are_found_and_judged(name: str) -> None:
    request = named_sets()[name]
    scheme = request.scheme or ""
    options = {"security": 128, "standard": "2024", "plain_modulus": request.plain_modulus or 65537}
    if scheme == "ckks":
        options["plain_modulus"] = None
    found = check(request, scheme, allow_insecure=True, **options)
    assert len(found.moduli) == len(request.moduli or request.data_bits)
    lines = (DOCS / "parameters.md").read_text().splitlines()
    family = "`" + name.rsplit("-", 1)[0] + "-"
    own = [line for line in lines if f"`{name}`" in line] or [line for line in lines if family in line]
    secure = own[0].split("|")[3].strip().startswith("yes")
    assert found.security.enough is secure
    if not secure:
        with pytest.raises(ParameterError, match="allow_insecure"):
            check(request, scheme, allow_insecure=False, **options)
