# SPDX-License-Identifier: Apache-2.0
"""What stands beside a trace: the ring's degree, words of its inputs, addresses of its outputs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ringsmith.errors import InputError
from ringsmith.fhetch.arithmetic import Words
from ringsmith.fhetch.evaluate import MOST_WORDS
from ringsmith.fhetch.recorded import recorded
from ringsmith.fhetch.trace import Trace
from ringsmith.files import parsed, read_text

#: Largest JSON file that is read, in bytes, and the largest ring degree.
MAX_JSON = 512 << 20
MAX_DEGREE = 1 << 17

#: The manifest that recorders write beside a trace.
MANIFEST = "fhetch_replay.json"


@dataclass(frozen=True)
class Beside:
    """What a JSON file says of a trace; no inputs: they are drawn."""

    path: Path
    n: int
    outputs: tuple[int, ...]
    inputs: Mapping[int, Words] = field(default_factory=dict, repr=False)


def find_beside(trace: Trace, given: Path | None) -> Beside:
    """Read the file given, that of the trace's name ending in .json, or the manifest in its folder.

    Raises:
        InputError: there is none, or it does not say what is needed.
    """
    own = trace.path.with_suffix(".json")
    if given is None and not own.exists() and (trace.path.parent / MANIFEST).exists():
        return _manifest(trace, trace.path.parent / MANIFEST)
    path = given or own
    if not path.exists():
        raise InputError(
            f"{path}: no such file; beside a trace stands NAME.json with n, inputs and outputs, or {MANIFEST}"
        )
    return _ours(trace, path)


def _object(path: Path, limit: int) -> dict[str, Any]:
    value = parsed(path, "JSON", json.loads, read_text(path, limit))
    if not isinstance(value, dict):
        raise InputError(f"{path}: an object is needed")
    return value


def _ours(trace: Trace, path: Path) -> Beside:
    value = _object(path, MAX_JSON)
    n, inputs = _degree(path, value.get("n")), value.get("inputs")
    if not isinstance(inputs, dict):
        raise InputError(f"{path}: inputs is an object, the words of each polynomial by its number")
    needed = set(trace.given()) | set(_addresses(path, value.get("outputs")))
    if len(needed & {_key(path, key) for key in inputs}) * n > MOST_WORDS:
        raise InputError(f"{path}: {len(inputs)} polynomials of degree {n}; {MOST_WORDS} words can be held")
    words = {_key(path, key): _words(path, key, given, n) for key, given in inputs.items()}
    return Beside(path, n, _addresses(path, value.get("outputs")), words)


def _manifest(trace: Trace, path: Path) -> Beside:
    value = _object(path, MAX_JSON)
    context, files = value.get("crypto_context"), value.get("files")
    if not isinstance(context, dict) or not isinstance(files, dict):
        raise InputError(f"{path}: crypto_context and files are needed")
    n, name = _degree(path, context.get("ring_dimension")), files.get("outputs")
    found: Any = _outputs(path.parent / Path(name).name) if isinstance(name, str) else trace.unread()
    outputs = _addresses(path, list(found))
    return Beside(path, n, outputs, _recorded(trace, path, files, n, outputs))


def _recorded(trace: Trace, path: Path, files: dict[str, Any], n: int, outputs: tuple[int, ...]) -> dict[int, Words]:
    """Return the words of inputs that a recorder wrote; none where its list of inputs is not there."""
    name = files.get("inputs")
    index = path.parent / Path(name).name if isinstance(name, str) else None
    if index is None or not index.exists():
        return {}
    entries = _object(index, MAX_JSON).get("inputs")
    if not isinstance(entries, list):
        raise InputError(f"{index}: inputs is a list")
    needed = set(trace.given()) | set(outputs)
    if len(needed) * n > MOST_WORDS:
        raise InputError(f"{trace.path}: {len(needed)} inputs of degree {n}; {MOST_WORDS} words can be held")
    return recorded(path.parent, files, entries, n, needed)


def _outputs(path: Path) -> list[Any]:
    """Return the addresses in a recorder's file of outputs, polynomial by polynomial."""
    try:
        polynomials = [one for output in _object(path, MAX_JSON)["outputs"] for one in output["ciphertext_data"]]
        return [address for one in polynomials for address in one["elements"]]
    except (KeyError, TypeError):
        raise InputError(f"{path}: outputs with ciphertext_data of elements are needed") from None


def _degree(path: Path, n: Any) -> int:
    if type(n) is int and 8 <= n <= MAX_DEGREE and n & (n - 1) == 0:
        return n
    raise InputError(f"{path}: n is {str(n)[:40]}; a power of two from 8 to {MAX_DEGREE} is needed")


def _addresses(path: Path, given: Any) -> tuple[int, ...]:
    if isinstance(given, list) and given and all(type(one) is int and 0 <= one < 2**64 for one in given):
        return tuple(given)
    raise InputError(f"{path}: outputs is a list of numbers of polynomials")


def _key(path: Path, key: str) -> int:
    if key.isascii() and key.isdigit() and len(key) <= 20 and int(key) < 2**64:
        return int(key)
    raise InputError(f"{path}: input {key[:24]!r} is no number of a polynomial")


def _words(path: Path, key: str, given: Any, n: int) -> Words:
    if isinstance(given, list) and len(given) == n and all(type(word) is int and 0 <= word < 2**64 for word in given):
        return np.array(given, dtype=np.uint64)
    raise InputError(f"{path}: input {key} is no list of {n} words, numbers from 0 to 2^64 - 1")


def drawn(trace: Trace, n: int, held: Mapping[int, Words], seed: int) -> dict[int, Words]:
    """Return the inputs held, and random residues for the others: below the least modulus of their first use."""
    below: dict[int, int] = {}
    for one in trace.instructions:
        for at, address in enumerate(one.reads):
            q = trace.moduli[one.sources[at] if one.sources else one.modulus]
            below[address] = min(q, below.get(address, q))
    lacks = [address for address in trace.given() if address not in held]
    if len(lacks) * n > MOST_WORDS:
        raise InputError(f"{trace.path}: {len(lacks)} inputs of degree {n}; {MOST_WORDS} words can be held")
    source = np.random.default_rng(seed)
    return {**held, **{one: source.integers(0, below[one], n, dtype=np.uint64) for one in lacks}}


def checked(trace: Trace, beside: Beside) -> Sequence[int]:
    """Refuse inputs that are there in part: return what is drawn, all or nothing."""
    lacks = [address for address in trace.given() if address not in beside.inputs]
    if lacks and beside.inputs:
        raise InputError(f"{beside.path}: no words for %{lacks[0]}, which {trace.path} reads before it is written")
    return lacks
