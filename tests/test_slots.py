# SPDX-License-Identifier: Apache-2.0
"""The word slot: the plaintext's in one half of the tree, the memory's (polynomial slot) in the other.

`docs/glossary.md` has both meanings.  Between the halves stand folders that use both; a file uses one.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: Folders where a slot is on-chip memory of one polynomial.
OF_THE_MEMORY = ("rtl", "crates/isa", "crates/model", "crates/device", "crates/offload", "python/ringsmith/hw")
#: Folders where a slot is one number of an encoded vector.
OF_THE_PLAINTEXT = (
    *(f"crates/{name}" for name in ("rlwe", "bfv", "ckks", "program", "client", "client-c")),
    *(f"python/ringsmith/{name}" for name in ("ir", "frontend", "compiler", "encodings")),
)
#: What is said of the memory's slots alone.
MEMORY = re.compile(
    r"(?i)polynomial slots?\b|\b(dual|single)_port_slots\b|\bwork slots?\b|\bTWIDDLE_SLOT|\brs_slot(_ports)?\b"
)
#: What is said of the plaintext's slots alone.
PLAINTEXT = re.compile(
    r"(?i)\bslot_error\b|\bslot[ _]programs?\b|\bslots? of (an?|the|each|every|its) (\w+ )?"
    r"(plaintext|ciphertext|vector|row)|\bslots? (rotated )?(left|right) by\b|\b(row|rows|vector|vectors) of slots\b"
    r"|\b(real|complex|plaintext) slots?\b|\bslots? modulo\b"
)
#: Files that set a program beside the hardware that it needs.
BESIDE = {"tests/test_slots.py"}
SUFFIXES = {".rs", ".py", ".sv", ".toml", ".yaml", ".c", ".h", ".cpp"}


def sources(root: Path) -> Iterator[tuple[str, str]]:
    """Yield name and text of each source file under version control."""
    listed = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True, check=True)
    for name in listed.stdout.splitlines():
        path = root / name
        if path.suffix in SUFFIXES and name not in BESIDE and path.is_file():
            yield name, path.read_text(encoding="utf-8")


def mistaken(name: str, text: str) -> str | None:
    """Return what a file says of the other meaning of the word, None for nothing."""
    memory, plaintext = MEMORY.search(text), PLAINTEXT.search(text)
    if name.startswith(tuple(f"{room}/" for room in OF_THE_MEMORY)):
        found = plaintext
    elif name.startswith(tuple(f"{room}/" for room in OF_THE_PLAINTEXT)):
        found = memory
    else:
        found = memory and plaintext
    return f"{name}: {found[0]!r}" if found else None


def test_a_file_means_one_kind_of_slot() -> None:
    found = [wrong for name, text in sources(ROOT) if (wrong := mistaken(name, text))]
    assert found == []


def test_a_file_of_both_kinds_is_found() -> None:
    memory, plaintext = "a tile's polynomial slot", "the slots of a ciphertext"
    assert mistaken("crates/ckks/src/encode.rs", memory)
    assert mistaken("crates/isa/src/check.rs", plaintext)
    assert mistaken("crates/backend/src/keys.rs", f"{memory}, {plaintext}")
    assert not mistaken("crates/backend/src/keys.rs", plaintext)
