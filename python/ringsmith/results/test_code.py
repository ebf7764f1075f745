# SPDX-License-Identifier: Apache-2.0
"""The code of a file: comments, docstrings and blank lines change nothing, each token and each string does."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from ringsmith import shipped
from ringsmith.results.code import code

RUST = r"""
fn length<'a>(text: &'a str, quote: char) -> usize {
    let marks = ['"', '\'', '/'];
    let raw = r#"a "quoted" // remark"#;
    let lines = "one // two
        three";
    text.len() + marks.len() /* sum */ + raw.len()
}
"""
VERILOG = """
module rs_add (input logic [3:0] a_i, output logic [3:0] b_o);
  assign b_o = a_i + 4'd1;  // one more
  initial $display("a // b");
endmodule
"""
PYTHON = '''
def length(text):
    """Return its length."""
    mark = "# no comment"
    lines = """one

    two"""
    return len(text) + len(mark)  # the sum
'''
DATA = """
name: "a # b"  # a name
rule: it's so
other: 'c # d'
"""
SAME = {
    ".rs": [
        ("{\n", "{\n    // A remark.\n\n"),
        (" /* sum */ ", ' /* the /* whole */ " sum */ '),
        ("fn", "/// Return it.\nfn"),
        ("];\n", "]; // It's so.\n"),
        ("let raw", "/* A remark */ let raw"),
        ("\n}\n", "\n}\n\n#[cfg(test)]\n// Its tests.\n\nmod tests {\n    use super::*;\n}\n"),
    ],
    ".sv": [("// one more", "// 'one' \"more"), ("\n  initial", "\n\n  /* here */\n  initial"), ("// one more", "")],
    ".py": [
        ('"""Return its length."""', '"""Return the length.\n\n    In characters.\n    """  # noqa'),
        ("# the sum", "# their 'sum'"),
        ("    mark", "\n    # A mark.\n\n    mark"),
        ("\ndef", '"""A module."""\n\ndef'),
        ('"""\n    return', '"""\n    """A string."""\n    return'),
    ],
    ".yaml": [("# a name", "# the name"), ("rule", "\n# A rule.\nrule")],
}
OTHER = {
    ".rs": [
        ("// remark", "// word"),
        ("// two", "// three"),
        ("        three", "    three"),
        ("one // two\n", "one // two\n\n"),
        (r"'\''", r"'\\'"),
        (" + raw", " - raw"),
        (" /* sum */ +", " // +"),
        ("<'a>", "<'b>"),
    ],
    ".sv": [("// b", "// c"), ("4'd1", "4'd2"), ("a_i + ", "// a_i + ")],
    ".py": [
        ("# no comment", "# one comment"),
        ("one\n\n", "one\n"),
        ('"""one', '"""# one'),
        ("len(mark)", "2 * len(mark)"),
        ('"""Return its length."""', 'x = """Return its length."""'),
        ("    return", "    if text:\n        return"),
    ],
    ".yaml": [("# b", "# c"), ("# d", "# e"), ("it's", "its")],
}
TEXTS = {".rs": RUST, ".sv": VERILOG, ".py": PYTHON, ".yaml": DATA}


def changed(suffix: str, old: str, new: str) -> str:
    assert old in TEXTS[suffix]
    return TEXTS[suffix].replace(old, new)


@pytest.mark.parametrize(("suffix", "old", "new"), [(kind, *case) for kind, cases in SAME.items() for case in cases])
def test_a_comment_changes_nothing(suffix: str, old: str, new: str) -> None:
    assert code(changed(suffix, old, new), suffix) == code(TEXTS[suffix], suffix)


@pytest.mark.parametrize(("suffix", "old", "new"), [(kind, *case) for kind, cases in OTHER.items() for case in cases])
def test_a_token_or_a_string_does(suffix: str, old: str, new: str) -> None:
    assert code(changed(suffix, old, new), suffix) != code(TEXTS[suffix], suffix)


def test_python_keeps_its_meaning() -> None:
    """The code of our own modules parses to their syntax tree, docstrings apart (a lone one leaves no body)."""
    for path in sorted(Path(shipped.root() / "python/ringsmith/compiler").glob("*.py")):
        text = path.read_text(encoding="utf-8")
        try:
            ours = ast.parse(code(text, ".py"))
        except IndentationError:
            continue
        assert ast.dump(ours) == ast.dump(without_docstrings(ast.parse(text))), path


def without_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        if isinstance(body := getattr(node, "body", None), list):
            node.body = [item for item in body if not is_string(item)]  # type: ignore[attr-defined]
    return tree


def is_string(node: Any) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def test_data_keeps_its_meaning() -> None:
    for path in sorted(shipped.spec().glob("*.yaml")):
        text = path.read_text(encoding="utf-8")
        assert yaml.safe_load(code(text, ".yaml")) == yaml.safe_load(text), path
    for path in sorted((shipped.spec() / "presets").glob("*.toml")):
        text = path.read_text(encoding="utf-8")
        assert tomllib.loads(code(text, ".toml")) == tomllib.loads(text), path
