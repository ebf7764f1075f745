# SPDX-License-Identifier: Apache-2.0
"""Words of inputs as recorders of OpenFHE programs write them: polynomials of OpenFHE's, with addresses beside them.

`NAME.inputs.json` lists the inputs, each with a file of polynomials and one of addresses; `fhetch_replay.json` names
those of evaluation keys and of the tables of bootstrapping. Addresses are a count and as many integers of 64 bits, a
limb each, in the order of the polynomials.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ringsmith.errors import InputError, RingsmithError
from ringsmith.fhetch.arithmetic import Words
from ringsmith.files import read_bytes
from ringsmith.interchange.cereal import BinarySource
from ringsmith.interchange.cursor import Cursor
from ringsmith.interchange.openfhe_schema import POLYNOMIAL
from ringsmith.limits import VARIABLE, max_file

#: What a file holds: ciphertext, plaintext, a polynomial by itself.
_PAYLOADS = (0, 1, 2)
#: The most polynomials, keys and tables of a file.
_MOST = 1 << 16

Tree = dict[str, Any]


def recorded(folder: Path, files: Mapping[str, Any], index: Any, n: int, needed: set[int]) -> dict[int, Words]:
    """Return the words of those addresses that are needed.

    Args:
        folder: Where the files are.
        files: What the manifest says of them: names of the files of keys and of their addresses.
        index: The entries of the file of inputs.
        n: The degree.
        needed: The addresses.

    Raises:
        InputError: a file that is missing or damaged, with its name.
        FormatError: bytes that are none of OpenFHE's polynomials, with the file's name.
    """
    found: dict[int, Words] = {}
    for words, addresses, polynomials in _pairs(folder, files, index):
        try:
            found.update(_words(words, addresses, polynomials, n, needed))
        except RingsmithError as error:
            raise type(error)(f"{words}: {error}") from None
    return found


def _pairs(
    folder: Path, files: Mapping[str, Any], index: Any
) -> Iterator[tuple[Path, Path, Callable[[BinarySource], Iterator[Tree]]]]:
    """Yield each file of polynomials, that of its addresses, and how it is read."""
    for one in index:
        if not isinstance(one, dict) or not all(isinstance(one.get(key), str) for key in ("bin_file", "ids_file")):
            raise InputError(f"{folder}: an input without bin_file and ids_file")
        yield _place(folder, one["bin_file"]), _place(folder, one["ids_file"]), _of_input
    for kind, ids, polynomials in (
        ("evalmult_keys", "evalmult_ids", _of_keys),
        ("evalautomorphism_keys", "evalautomorphism_ids", _of_keys),
        ("bootstrap_precomp", "bootstrap_precomp_ids", _of_bootstrapping),
    ):
        if isinstance(files.get(kind), str) and isinstance(files.get(ids), str):
            yield _place(folder, files[kind]), _place(folder, files[ids]), polynomials


def _place(folder: Path, name: str) -> Path:
    """Return a file of the folder, whatever folder a recorder names."""
    return folder / Path(name).name


def _bytes(path: Path) -> bytes:
    if not path.exists():
        raise InputError(f"{path}: no such file, and the manifest names it")
    return read_bytes(path, max_file(), f"raise {VARIABLE}")


def _addresses(path: Path) -> list[int]:
    cursor = Cursor(_bytes(path), f"{path.name}'s")
    count = cursor.number("the number of addresses")
    found = cursor.words(count, "the addresses")
    cursor.finish()
    return [int(address) for address in found]


def _words(
    path: Path,
    addresses: Path,
    polynomials: Callable[[BinarySource], Iterator[Tree]],
    n: int,
    needed: set[int],
) -> dict[int, Words]:
    """Return the words of a file's limbs by address, of those that are needed."""
    left, found = iter(_addresses(addresses)), {}
    source = BinarySource(_bytes(path), "OpenFHE")
    for polynomial in polynomials(source):
        for limb in polynomial["v"]:
            words = limb["v"]["v"]
            address = next(left, None)
            if address is None:
                raise InputError(f"more polynomials than {addresses} has addresses")
            if len(words) != n:
                raise InputError(f"a polynomial of degree {len(words)}, and the ring's is {n}")
            if address in needed:
                found[address] = words
    source.finish()
    if next(left, None) is not None:
        raise InputError(f"fewer polynomials than {addresses} has addresses")
    return found


def _several(source: BinarySource, name: str) -> Iterator[Tree]:
    """Yield a count's polynomials."""
    for _ in range(_count(source, name)):
        yield POLYNOMIAL.read(source, name)


def _count(source: BinarySource, name: str) -> int:
    count = int(source.number("I", name))
    if count > _MOST:
        raise source.fail(f"{count} {name}; at most {_MOST} are read")
    return count


def _of_input(source: BinarySource) -> Iterator[Tree]:
    instances, payload = source.number("I", "instances"), source.number("B", "the payload")
    if instances != 1 or payload not in _PAYLOADS:
        raise source.fail(f"{instances} instances of payload {payload}; one ciphertext or plaintext is read")
    yield from _several(source, "polynomials of an input")


def _of_keys(source: BinarySource) -> Iterator[Tree]:
    for _ in range(_count(source, "keys")):
        for half in ("a", "b"):
            yield from _several(source, f"polynomials {half} of a key")


def _of_bootstrapping(source: BinarySource) -> Iterator[Tree]:
    for _ in range(_count(source, "tables of bootstrapping")):
        for _ in range(2 + 2 * 9):
            source.number("I", "a parameter of bootstrapping")
        for _ in range(2):
            for _ in range(_count(source, "levels of a transform")):
                yield from _several(source, "polynomials of a level")
        for _ in range(2):
            yield from _several(source, "polynomials of a transform")
