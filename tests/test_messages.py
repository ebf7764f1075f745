# SPDX-License-Identifier: Apache-2.0
"""Messages name what the user of an installed package has: extras and `ringsmith help TOPIC`, no file of a checkout."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from ringsmith.extras import EXTRAS

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "python" / "ringsmith"
CHECKOUT_ONLY = re.compile(r"docs/[\w-]+\.md|requirements/\w+\.(txt|in)")
TOPIC = re.compile(r"`ringsmith help ([\w-]+)`")
#: Generators of files of the checkout, and the modules that only the tests and `make` start, name such files rightly.
EXEMPT = ("gen/", "hw/hosts.py", "hw/prove.py", "hw/format_rtl.py", "hw/lint_rtl.py")


def texts(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and text of the strings that may reach a user: all but docstrings, and those of commands, which
    `--help` prints.
    """
    tree = ast.parse(source)
    owners = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {
        id(node.body[0].value): isinstance(node, ast.FunctionDef) and "typer." in ast.unparse(node.args)
        for node in ast.walk(tree)
        if isinstance(node, owners) and node.body and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and docstrings.get(id(node), True):
            yield node.lineno, node.value


def sources() -> list[Path]:
    """Modules of the package, tests left out."""
    return [path for path in sorted(PACKAGE.rglob("*.py")) if not path.name.startswith(("test_", "conftest"))]


def test_no_message_names_a_file_of_a_checkout() -> None:
    found = [
        f"{path.relative_to(PACKAGE)}:{line}: {text[:80]}"
        for path in sources()
        if not str(path.relative_to(PACKAGE)).startswith(EXEMPT)
        for line, text in texts(path.read_text(encoding="utf-8"))
        if CHECKOUT_ONLY.search(text)
    ]
    assert found == []


def test_files_of_a_checkout_are_found_in_messages_and_in_help_alone() -> None:
    planted = '''
"""See docs/python.md."""
def f(x: Annotated[str, typer.Option()]) -> None:
    """Help text: docs/service.md."""
def g(x: str) -> None:
    """A docstring: docs/format.md."""
    raise InputError(f"{x}: pip install -r requirements/hw.txt")
'''
    found = [line for line, text in texts(planted) if CHECKOUT_ONLY.search(text)]
    assert sorted(found) == [4, 7]


def test_topics_that_messages_name_are_pages() -> None:
    files = [*sources(), *(ROOT / "crates").rglob("*.rs")]
    named = {topic for path in files for topic in TOPIC.findall(path.read_text(encoding="utf-8"))}
    assert named >= {"python", "service", "format"}
    assert [topic for topic in sorted(named) if not (ROOT / "docs" / f"{topic}.md").is_file()] == []


def test_extras_that_messages_name_are_the_packages_own() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(EXTRAS) == set(project["optional-dependencies"])
