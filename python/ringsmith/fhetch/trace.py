# SPDX-License-Identifier: Apache-2.0
"""The text of a trace: instructions and moduli, checked line by line. `docs/doors.md` has the form."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ringsmith.errors import InputError
from ringsmith.files import read_text

#: Largest trace that is read, in bytes, and the most instructions and moduli in it.
MAX_TRACE = 256 << 20
MOST_INSTRUCTIONS = 1 << 22
MOST_MODULI = 1 << 12

#: The entry of the table of moduli that stands for none.
NO_MODULUS = 2**64 - 1

#: Operands of each instruction, and the names of its further fields.
FORMS: Mapping[str, tuple[int, frozenset[str]]] = {
    **dict.fromkeys(("sr_addp", "sr_subp", "sr_mulp"), (2, frozenset({"m"}))),
    **dict.fromkeys(("sr_addps", "sr_subps", "sr_mulps"), (1, frozenset({"m", "scalar"}))),
    "sr_negp": (1, frozenset({"m"})),
    **dict.fromkeys(("sr_ntt", "sr_intt"), (1, frozenset({"m", "omega"}))),
    "sr_permute": (1, frozenset({"m", "g", "form"})),
    "sr_automorph_eval": (1, frozenset({"m", "k", "mask", "logn"})),
    "sr_automorph_coeff": (1, frozenset({"m", "k"})),
    "sr_rot_automorph_coeff": (1, frozenset({"m", "offset"})),
    "rs_quotient": (0, frozenset({"from"})),
}
#: Fields that an instruction may lack.
OPTIONAL = {"omega", "mask", "logn"}

#: Why an instruction that the language has is not run.
REFUSED = (
    (r"sr_\w+_ni|sr_i?ft", "computes with real numbers, not residues"),
    (r"sr_(add|sub)ps_coeff", "has no agreed meaning: to the constant coefficient, or to every one"),
    (r"mr_\w+|mrpa_\w+|fast_base_convert|rescale_fbc|dig_decomp|gadget_decomp|gsw_\w+|ckks_\w+|sr_\w+_array",
     "is a gadget; a flat trace has it written out in sr_ instructions"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction; `result` and `operands` are addresses, which may be written more than once.

    `modulus` is an index of the trace's table. `number`: the scalar, the root (0: not given), g or k, the offset.
    """

    line: int
    mnemonic: str
    result: int
    operands: tuple[int, ...]
    modulus: int = 0
    number: int = 0
    form: str = ""
    sources: tuple[int, ...] = ()

    @property
    def reads(self) -> tuple[int, ...]:
        """The addresses whose words it reads: none where it writes zeros, a product with 0."""
        return () if self.mnemonic == "sr_mulps" and self.number == 0 else self.operands


@dataclass(frozen=True)
class Trace:
    """A trace: its file, the table of moduli (entry 0 stands for none) and the instructions up to `halt`."""

    path: Path
    moduli: tuple[int, ...]
    instructions: tuple[Instruction, ...] = field(repr=False)

    def refusal(self, line: int, what: str) -> InputError:
        """Return the error of a line."""
        return InputError(f"{self.path}:{line}: {what}")

    def given(self) -> tuple[int, ...]:
        """Return the addresses that are read before anything writes them, in the order of their first use."""
        written: set[int] = set()
        found: dict[int, None] = {}
        for one in self.instructions:
            found.update(dict.fromkeys(a for a in one.reads if a not in written))
            written.add(one.result)
        return tuple(found)

    def unread(self) -> tuple[int, ...]:
        """Return the addresses whose last value no instruction reads, in the order of writing."""
        left: dict[int, None] = {}
        for one in self.instructions:
            for address in one.reads:
                left.pop(address, None)
            left.pop(one.result, None)
            left[one.result] = None
        return tuple(left)

    def counts(self) -> dict[str, int]:
        """Return how often each instruction stands in the trace, the most frequent first."""
        return dict(Counter(one.mnemonic for one in self.instructions).most_common())


def read_trace(path: Path) -> Trace:
    """Return the trace of a file.

    Raises:
        InputError: a line that is not of the form, with file and line; more than the bounds above.
    """
    reader = _Reader(path)
    for number, text in enumerate(read_text(path, MAX_TRACE).splitlines(), 1):
        line = text.partition("#")[0].strip()
        if line and not reader.take(number, line):
            break
    else:
        raise InputError(f"{path}: no halt at the end; the file is cut off")
    return Trace(path, tuple(reader.moduli), tuple(reader.instructions))


class _Reader:
    """Reads line after line."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._count: int | None = None
        self.moduli: list[int] = []
        self.instructions: list[Instruction] = []

    def take(self, number: int, line: str) -> bool:
        """Take a line without its comment; False at the end."""
        head, _, rest = line.partition(" ")
        head = head.lower()
        if head == "halt":
            return False
        if head == "modulus_count":
            self._count = self._whole(number, "modulus_count", rest.strip())
            if not 1 <= self._count <= MOST_MODULI:
                raise self._refusal(number, f"{self._count} moduli; from 1 to {MOST_MODULI} can be read")
        elif head.startswith("m["):
            self._modulus(number, head, rest)
        elif len(self.instructions) == MOST_INSTRUCTIONS:
            raise self._refusal(number, f"more than {MOST_INSTRUCTIONS} instructions")
        else:
            self.instructions.append(self._instruction(number, head, rest))
        return True

    def _modulus(self, number: int, head: str, rest: str) -> None:
        entry, value = re.fullmatch(r"m\[(\d{1,9})\]", head), self._whole(number, "a modulus", rest.strip())
        if self._count is None or entry is None or int(entry[1]) != len(self.moduli) or len(self.moduli) >= self._count:
            raise self._refusal(number, f"{head} out of place: entries follow modulus_count, from m[0] on")
        if not self.moduli and value != NO_MODULUS:
            raise self._refusal(number, f"m[0] is {value:#x}; it stands for no modulus and is {NO_MODULUS:#x}")
        if self.moduli and not (value % 2 and 3 <= value < NO_MODULUS):
            raise self._refusal(number, f"modulus {value}: an odd number from 3 to 2^64 - 3 is needed")
        self.moduli.append(value)

    def _instruction(self, line: int, name: str, rest: str) -> Instruction:
        if name not in FORMS:
            why = next((why for pattern, why in REFUSED if re.fullmatch(pattern, name)), None)
            raise self._refusal(line, f"{name} {why}" if why else f"no instruction {name!r}")
        count, names = FORMS[name]
        fields = [field.strip() for field in rest.split(",")]
        addresses = [self._address(line, field) for field in fields if field.startswith("%")]
        if "scalar" in names:
            fields = [f"scalar={field}" if field[:1].isdigit() else field for field in fields]
        more = dict(field.split("=", 1) for field in fields if "=" in field)
        lacks = sorted(names - set(more) - OPTIONAL)
        wrong = sorted(set(more) - names)
        if lacks or wrong or len(addresses) + len(more) != len(fields) or (count and len(addresses) != count + 1):
            raise self._refusal(line, f"{name}: {_form(name)} is needed")
        if name == "rs_quotient":
            return self._quotient(line, addresses, more["from"])
        modulus = self._index(line, more["m"])
        return self._checked(
            Instruction(line, name, addresses[0], tuple(addresses[1:]), modulus, *self._last(line, more))
        )

    def _checked(self, one: Instruction) -> Instruction:
        copies = one.mnemonic == "sr_automorph_eval" or (
            one.number == 0 and one.mnemonic in ("sr_addps", "sr_subps", "sr_mulps")
        )
        if one.modulus == 0 and not copies:
            raise self._refusal(one.line, f"{one.mnemonic} without a modulus: m=0 stands for none")
        if one.mnemonic in ("sr_permute", "sr_automorph_eval", "sr_automorph_coeff") and one.number % 2 == 0:
            raise self._refusal(one.line, f"{one.mnemonic} with the even element {one.number}; it is odd")
        return one

    def _last(self, line: int, more: Mapping[str, str]) -> tuple[int, str]:
        if more.get("form", "values") not in ("values", "coefficients"):
            raise self._refusal(line, f"form={more['form'][:20]}: values or coefficients")
        names = ("scalar", "omega", "g", "k", "offset")
        value = next((self._whole(line, name, more[name]) for name in names if name in more), 0)
        return value, more.get("form", "")

    def _quotient(self, line: int, addresses: list[int], sources: str) -> Instruction:
        moduli = tuple(self._index(line, one) for one in sources.split("/"))
        if len(addresses) != len(moduli) + 1 or 0 in moduli:
            raise self._refusal(line, f"rs_quotient of {len(addresses) - 1} operands from {len(moduli)} moduli")
        return Instruction(line, "rs_quotient", addresses[0], tuple(addresses[1:]), sources=moduli)

    def _index(self, line: int, text: str) -> int:
        index = self._whole(line, "m", text)
        if index >= len(self.moduli):
            raise self._refusal(line, f"m={index}: the table has {len(self.moduli)} moduli")
        return index

    def _address(self, line: int, text: str) -> int:
        return self._whole(line, "an address", text[1:])

    def _whole(self, line: int, what: str, text: str) -> int:
        if len(text) <= 20 and (found := re.fullmatch(r"0[xX]([0-9a-fA-F]+)|(0|[1-9][0-9]*)", text)):
            value = int(found[1], 16) if found[1] else int(found[2])
            if value < 2**64:
                return value
        raise self._refusal(line, f"{what}: {text[:24]!r} is no number below 2^64")

    def _refusal(self, line: int, what: str) -> InputError:
        return InputError(f"{self._path}:{line}: {what}")


def _form(name: str) -> str:
    """Return how an instruction is written."""
    if name == "rs_quotient":
        return "rs_quotient %d, %y0, …, from=i0/…"
    count, names = FORMS[name]
    named = [f"{one}=…" for one in ("m", "omega", "g", "form", "k", "offset") if one in names]
    return f"{name} " + ", ".join(["%d", "%a", "%b"][: count + 1] + ["C"] * ("scalar" in names) + named)
