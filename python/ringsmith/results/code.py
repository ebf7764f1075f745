# SPDX-License-Identifier: Apache-2.0
"""The code of a source file: its text without comments, docstrings and blank lines.

Two files with the same code give the same figures. Strings stand as they are, so `"// no comment"` is code.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Callable, Iterable, Iterator, Mapping

#: What the readers of code see instead of a line break within a string.
_BREAK = "\0"
_STRING = r'"(?:\\.|[^"\\])*"'
_RUST = re.compile(
    rf"""(?P<kept>[bc]?r(?P<hashes>\#*)".*?"(?P=hashes)|[bc]?{_STRING}|b?'(?:\\.[^'\n]*|[^'\\\n])')"""
    r"|(?P<dropped>//[^\n]*|/\*)",
    re.DOTALL,
)
_VERILOG = re.compile(rf"(?P<kept>{_STRING}|\\\S+)|(?P<dropped>//[^\n]*|/\*)", re.DOTALL)
_DATA = re.compile(
    rf"""(?P<kept>\"\"\".*?\"\"\"|'''.*?'''|{_STRING}|(?<![\w)\]'])'(?:''|[^'\n])*')|(?P<dropped>(?<!\S)\#[^\n]*)""",
    re.DOTALL,
)
#: Tokens of Python before a string that is a statement of its own.
_STARTS = {tokenize.ENCODING, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
_LAYOUT = {tokenize.NL, tokenize.COMMENT, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def code(text: str, suffix: str) -> str:
    """Return the code of a file by the ending of its name; of Rust what stands before its tests."""
    return _READERS.get(suffix, str)(text)


def _lines(text: str) -> list[str]:
    """Return the lines that are not blank."""
    return [line.rstrip() for line in text.split("\n") if line.strip()]


def _joined(lines: Iterable[str]) -> str:
    """Return lines without their indentation, as a language reads them in which it means nothing."""
    return "\n".join(line.lstrip() for line in lines)


def _without(tokens: re.Pattern[str], text: str, *, is_nested: bool = False) -> str:
    """Return a text without the comments that `tokens` finds outside strings."""
    found, at = [], 0
    while (match := tokens.search(text, at)) is not None:
        found.append(text[at : match.start()])
        at = match.end()
        if match["kept"] is not None:
            found.append(match["kept"].replace("\n", _BREAK))
        elif match["dropped"] == "/*":
            at = _end_of_block(text, at, is_nested=is_nested)
            found[-1] = found[-1].rstrip(" \t") + " " * (not text[at : at + 1].isspace())
    return "".join(found) + text[at:]


def _verilog(text: str) -> str:
    return _joined(_lines(_without(_VERILOG, text)))


def _data(text: str) -> str:
    return "\n".join(_lines(_without(_DATA, text)))


def _end_of_block(text: str, at: int, *, is_nested: bool) -> int:
    """Return where a block comment ends whose text begins at `at`."""
    depth = 1
    for mark in re.finditer(r"/\*|\*/", text[at:]):
        depth += -1 if mark[0] == "*/" else is_nested
        if depth == 0:
            return at + mark.end()
    return len(text)


def _rust(text: str) -> str:
    """Return Rust without what only its tests compile: a module at the end, or single items."""
    lines = iter(_lines(_without(_RUST, text, is_nested=True)))
    kept = []
    for line in lines:
        if line != "#[cfg(test)]":
            kept.append(line)
        elif next(lines, "").endswith("{"):
            break
    return _joined(kept)


def _python(text: str) -> str:
    """Return Python without comments and strings that are statements; indentation stays."""
    lines = text.split("\n")
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    dropped = list(_dropped(tokens))
    starts = {token.start for token in dropped}
    kept = {
        row
        for token in tokens
        if token.type not in _LAYOUT and token.start not in starts
        for row in range(token.start[0], token.end[0] + 1)
    }
    for token in dropped:
        (first, start), (last, end) = token.start, token.end
        lines[first - 1] = (lines[first - 1][:start] + (lines[last - 1][end:] if first == last else "")).rstrip()
    return "\n".join(lines[row - 1] for row in sorted(kept))


def _dropped(tokens: Iterable[tokenize.TokenInfo]) -> Iterator[tokenize.TokenInfo]:
    """Yield comments, and strings between two ends of statements."""
    before = tokenize.ENCODING
    held: tokenize.TokenInfo | None = None
    for token in tokens:
        if token.type == tokenize.COMMENT:
            yield token
        elif token.type != tokenize.NL:
            if held is not None and token.type == tokenize.NEWLINE:
                yield held
            held = token if token.type == tokenize.STRING and before in _STARTS else None
            before = token.type


_READERS: Mapping[str, Callable[[str], str]] = {
    ".rs": _rust,
    ".py": _python,
    **dict.fromkeys((".sv", ".rdl"), _verilog),
    **dict.fromkeys((".yaml", ".toml"), _data),
}
