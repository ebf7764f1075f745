# SPDX-License-Identifier: Apache-2.0
"""A program's bytes read by docs/format.md alone, as the listing that `ringsmith show` prints."""

import math
import struct

from .operations import CIPHER_OPERATIONS
from .wire import Reader

PLAIN_OPERATIONS = [
    "argument", "constant", "add", "subtract", "multiply", "negate", "power", "polynomial", "matmul", "sum", "gather",
    "within",
]  # fmt: skip
ENCRYPTIONS = ["secret", "public", "extended public"]


class Fields(Reader):
    """The fields of a program's payload."""

    def real(self) -> float:
        """A double."""
        return float(struct.unpack("<d", self.take(8))[0])

    def signed(self, size: int) -> int:
        """A two's complement integer."""
        return int.from_bytes(self.take(size), "little", signed=True)

    def text(self) -> str:
        """A counted text."""
        return self.take(self.number(4)).decode()

    def shape(self) -> str:
        """A shape."""
        return "(" + " ".join(str(self.number(4)) for _ in range(self.number(1))) + ")"

    def map(self) -> str:
        """An index map."""
        runs = []
        for _ in range(self.number(4)):
            first, step, length = self.number(4), self.signed(4), self.number(4)
            runs.append(f"_:{length}" if first == 2**32 - 1 else f"{first}:{step}:{length}")
        return f"[{' '.join(runs)}]"

    def values(self) -> str:
        """Counted numbers."""
        kind, count = self.number(1), self.number(4)
        return " ".join(scientific(self.real()) if kind == 0 else str(self.signed(8)) for _ in range(count))


def scientific(x: float) -> str:
    """The shortest digits of a double as d.ddde±x, without the zeros and signs that Python adds."""
    if x == 0:
        return "-0e0" if math.copysign(1, x) < 0 else "0e0"
    digits, exponent = next(text.split("e") for text in (f"{x:.{p}e}" for p in range(17)) if float(text) == x)
    return f"{digits}e{int(exponent)}"


def listing(payload: bytes) -> list[str]:
    """The lines of a program."""
    f = Fields(payload)
    name, variant = f.text(), f.text()
    lines = [f"program {name}{' ' if variant else ''}{variant}"]
    parameters = f.take(f.number(4))
    exact = parameters[6] == 2
    lines += [_parameters(parameters, exact), f"inputs under the {ENCRYPTIONS[f.number(1)]} key"]
    bits, failure, tolerance, kind = f.real(), f.number(4), f.real(), f.number(1)
    what = "bits of budget left" if exact else "log2 of the error"
    room, probable = "room" if kind == 1 else "no room", "probable, " if kind == 2 else ""
    lines.append(
        f"guarantee {bits:.4f} {what}, {probable}failing below 2^-{failure}, tolerance {scientific(tolerance)}, "
        f"{room} for publication"
    )
    lines += [_argument(f) for _ in range(f.number(4))]
    lines += [f"e{number} = {_expression(f)}" for number in range(f.number(4))]
    lines += [f"p{number} = e{f.number(4)} {f.map()} at most {scientific(f.real())}" for number in range(f.number(4))]
    lines += [f"t{number} = {_transform(f)}" for number in range(f.number(4))]
    sources = [(f.text(), f.number(4), f.text()) for _ in range(f.number(4))]
    lines += [f"%{number} = {_step(f, sources)}" for number in range(f.number(4))]
    outputs = " ".join(f"%{f.number(4)}" for _ in range(f.number(4)))
    lines.append(f"result {f.shape()} = {outputs} {f.map()}{_reading(f)}")
    if f.rest:
        lines.append(_bootstrapping(f))
    assert not f.rest
    return lines


def _reading(f: Fields) -> str:
    if not f.rest:
        return ""
    complex_numbers, divisor = f.number(1) == 1, f.number(8)
    if complex_numbers:
        return " complex"
    return f" divided by {divisor}" if divisor > 1 else ""


def _bootstrapping(f: Fields) -> str:
    bound, before, after, ratio = f.real(), f.number(1), f.number(1), f.real()
    weight, failure, degree, doublings, arcsine = f.number(4), f.real(), f.number(2), f.number(1), f.number(1)
    limit = f", keys of at most {f.number(8)} bytes" if len(f.rest) > 1 else ""
    passes = f", {f.number(1)} passes" if f.rest else ""
    return (
        f"refreshes values up to {scientific(bound)}, {before} levels before and {after} after, "
        f"ratio 2^-{scientific(ratio)}, weight {weight}, failing below 2^{scientific(failure)}, "
        f"degree {degree}, {doublings} doublings, arcsine {arcsine}{limit}{passes}"
    )


def _parameters(data: bytes, exact: bool) -> str:
    f = Fields(data[32:-8])
    f.number(1)
    n = 2 ** f.number(1)
    f.take(18)
    f.number(4)
    count, special = f.number(4), f.number(4)
    primes = [f.number(16) for _ in range(count + special)][:count]
    last = f"plaintext modulus {f.number(8)}" if exact else f"scale 2^{math.log2(f.real()):.4f}"
    return f"{'bfv' if exact else 'ckks'} n {n} primes {' '.join(map(str, primes))} {last}"


def _argument(f: Fields) -> str:
    name, shape = f.text(), f.shape()
    real = f.number(1) == 0
    low, high = (scientific(f.real()) if real else str(f.signed(8)) for _ in range(2))
    secrecy = f.number(1)
    packing = f" {f.map()}" if secrecy else ""
    producer = _producer(f, real=real) if secrecy == 2 else ""
    return f"{'encrypted' if secrecy else 'plain'} {name} {shape} from {low} to {high}{packing}{producer}"


def _producer(f: Fields, *, real: bool) -> str:
    words = [f" result of {f.text()} {f.take(16).hex()}"]
    for _ in range(f.number(4)):
        output, level, scale, noise = f.number(4), f.number(4), f.real(), f.real()
        if real:
            known = f"error 2^{noise:.4f} at most {scientific(f.real())} everywhere {scientific(f.real())}"
        else:
            known = f"variance 2^{noise:.4f} factors {f.number(4)}"
        words.append(f"[{output} level {level} scale 2^{math.log2(scale):.4f} {known}]")
    return " ".join(words)


def _expression(f: Fields) -> str:
    name = PLAIN_OPERATIONS[f.number(1)]
    match name:
        case "argument":
            words = [str(f.number(4))]
        case "constant":
            words = [f.values()]
        case "add" | "subtract" | "multiply" | "matmul":
            words = [f"e{f.number(4)}", f"e{f.number(4)}"]
        case "gather":
            words = [*(f"e{f.number(4)}" for _ in range(f.number(4))), f.map()]
        case "power":
            words = [f"e{f.number(4)}", str(f.number(4))]
        case "polynomial":
            words = [f"e{f.number(4)}", f.values()]
        case "sum":
            words = [f"e{f.number(4)}", *([] if (axis := f.number(1)) == 255 else [f"axis {axis}"])]
        case "within":
            words = [f"e{f.number(4)}", scientific(f.real())]
        case _:
            words = [f"e{f.number(4)}"]
    return " ".join([name, *words, f.shape()])


def _transform(f: Fields) -> str:
    multiplies, scale = f.number(1) == 1, f.real()
    words = ["sum", *([f"at 2^{math.log2(scale):.4f}"] if multiplies else [])]
    for _ in range(f.number(4)):
        giant, count = f.signed(4), f.number(4)
        terms = [f"{f.signed(4)}*p{f.number(4)}" if multiplies else str(f.signed(4)) for _ in range(count)]
        words.append(f"{giant}[{' '.join(terms)}]")
    return " ".join(words)


def _step(f: Fields, sources: list[tuple[str, int, str]]) -> str:
    name, operands, attributes = CIPHER_OPERATIONS[f.number(1)]
    words = [name, *(f"%{f.number(4)}" for _ in range(operands))]
    words += [_attribute(f, attribute) for attribute in attributes]
    words.append(f"; level {f.number(4)} scale 2^{math.log2(f.real()):.4f} size {f.number(1)}")
    file, line, _ = sources[f.number(4)]
    f.take(4)
    return " ".join([*words, f"; {file}:{line}"])


def _attribute(f: Fields, attribute: str) -> str:
    match attribute:
        case "plaintext":
            return f"p{f.number(4)} at 2^{math.log2(f.real()):.4f}"
        case "rotation":
            return f"by {f.signed(4)}"
        case "transform":
            return f"t{f.number(4)}"
        case "promise":
            bound, reach = scientific(f.real()), f.number(1)
            error = f" error {scientific(f.real())}" if reach & 2 else ""
            return bound + (" everywhere" if reach & 1 else "") + error
    raise ValueError(attribute)
