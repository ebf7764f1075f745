# SPDX-License-Identifier: Apache-2.0
"""Fuzzes the decoders of other projects' files: FHETCH traces and their JSON, HEIR's text, SEAL's and OpenFHE's bytes.

`python fuzz/doors.py COUNT [SEED] [DECODER …]` changes valid files COUNT times, for each decoder: bytes, numbers,
lines, pieces of other files. A decoder returns or raises the package's own error, in memory bounded by `LIMIT`;
anything else is printed with the input's place under fuzz/artifacts, and the exit status is 1. `make fuzz` runs it with
COUNT 100,000.
"""

from __future__ import annotations

import json
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

import numpy as np

from ringsmith import _native
from ringsmith.errors import RingsmithError
from ringsmith.fhetch.evaluate import evaluate
from ringsmith.fhetch.inputs import checked, drawn, find_beside
from ringsmith.fhetch.polynomials import TraceProgram
from ringsmith.fhetch.trace import read_trace
from ringsmith.heir.rules import check_rules
from ringsmith.heir.test_heir import SQUARE, head
from ringsmith.heir.text import read_heir
from ringsmith.interchange import test_openfhe, test_seal
from ringsmith.interchange.objects import format_of, read_object
from ringsmith.interchange.ring import Context

#: Bytes of memory that a run may take beyond what it has at the beginning.
LIMIT = 1 << 30
#: The known answers are of small sets.
POLICY = {"allow_insecure": True}
#: Names and contents.
Files = dict[str, str | bytes]
ARTIFACTS = Path(__file__).parent / "artifacts" / "doors"

TRACE = """modulus_count 3
m[0] 0xFFFFFFFFFFFFFFFF
m[1] 0x10001
m[2] 0xA001
sr_ntt %4, %0, m=1, omega=0x40
sr_ntt %5, %1, m=2
sr_mulp %6, %5, %5, m=2
sr_addp %6, %6, %5, m=2
sr_mulps %7, %0, 0, m=2
sr_addps %7, %7, 17, m=2
sr_mulps %8, %0, 1, m=2  # words of another modulus
sr_subp %7, %8, %7, m=2
sr_negp %9, %6, m=2
sr_permute %10, %9, m=2, g=3, form=values
sr_automorph_coeff %11, %10, m=2, k=5
sr_automorph_eval %12, %11, m=0, k=7
sr_mulp %13, %12, %6, m=2
sr_mulps %14, %0, 3, m=1
rs_quotient %15, %14, %1, from=1/2
sr_intt %16, %13, m=2
halt
"""
BESIDE = json.dumps({"n": 8, "inputs": {"0": list(range(8)), "1": [7] * 8}, "outputs": [7, 13, 16]})
MANIFEST = json.dumps({"crypto_context": {"ring_dimension": 8}, "files": {"outputs": "t.outputs.json"}})
OUTPUTS = json.dumps({"outputs": [{"name": "r", "ciphertext_data": [{"poly_index": 0, "elements": [7, 16]}]}]})
HEIR = (
    f"{head('ckks', 'f64', 'inverse_canonical_encoding')}\n"
    f"func.func @f(%ct: !ct2 {{secret.secret}}) -> !ct1 {{\n{SQUARE}    return %r : !ct1\n}}\n}}\n"
)
PIECES = (
    "%", "m=", "0x", ",", "=", "<", ">", "(", ")", "{", "}", ":", '"', "\n", " ", "\0", "-1", "1.5", "1e309", "NaN",
    "18446744073709551615", "18446744073709551616", "9" * 30, "999999999", "#", "//", "->", "!ct", "dense<", "\u00e9",
    "null", "true", "sr_rot_automorph_coeff %13, %12, m=2, offset=3",
    "[[[[", "]]", "halt", "modulus_count", "m[1]", "func.func", "return", "ckks.add", "omega=", "0",
)  # fmt: skip


def changed(source: random.Random, text: str) -> str:
    """Return a text with up to four changes."""
    for _ in range(source.randrange(1, 5)):
        at, end = sorted(source.randrange(len(text) + 1) for _ in range(2))
        lines = text.splitlines()
        match source.randrange(7):
            case 0:
                text = text[:at] + chr(source.choice([*range(1, 128), 0x2028, 0xFF])) + text[at + 1 :]
            case 1:
                text = text[:at] + source.choice(PIECES) + text[at:]
            case 2:
                text = text[:at] + text[min(end, at + 40) :]
            case 3 if lines:
                lines.insert(source.randrange(len(lines)), source.choice(lines))
                text = "\n".join(lines)
            case 4 if lines:
                del lines[source.randrange(len(lines))]
                text = "\n".join(lines)
            case 5:
                text = text[:at] + text[at : at + 20] * source.randrange(1, 8) + text[at:]
            case _:
                digits = [place for place, sign in enumerate(text) if sign.isdigit()]
                if digits:
                    place = source.choice(digits)
                    text = (
                        text[:place] + str(source.choice([0, 1, 2, 7, 9, 2**31, 2**63, 2**64 - 1])) + text[place + 1 :]
                    )
    return text


def run_trace(folder: Path) -> None:
    """Decode a trace and what stands beside it, and compute it."""
    trace = read_trace(folder / "t.fhetch")
    beside = find_beside(trace, None)
    words = drawn(trace, beside.n, beside.inputs, 1) if checked(trace, beside) else beside.inputs
    if beside.n * len(trace.instructions) > 1 << 14:
        return
    wanted = np.stack(evaluate(trace, beside.n, words, beside.outputs))
    found = TraceProgram(trace, beside.n, words, beside.outputs).run()
    assert np.array_equal(found, wanted), "the program gives other residues than its instructions"


def run_heir(folder: Path) -> None:
    """Decode HEIR's text and hold it against its rules."""
    module = read_heir(folder / "t.mlir")
    for function in module.functions:
        check_rules(module, function)


def trace_files(source: random.Random) -> Files:
    """Return a changed trace with valid JSON."""
    return {"t.fhetch": changed(source, TRACE), "t.json": BESIDE}


def json_files(source: random.Random) -> Files:
    """Return a valid trace with changed JSON: ours, or a recorder's manifest and its outputs."""
    if source.random() < 0.5:
        return {"t.fhetch": TRACE, "t.json": changed(source, BESIDE)}
    texts = {"fhetch_replay.json": MANIFEST, "t.outputs.json": OUTPUTS}
    name = source.choice(list(texts))
    return {"t.fhetch": TRACE} | texts | {name: changed(source, texts[name])}


def heir_files(source: random.Random) -> Files:
    """Return a changed program of HEIR."""
    return {"t.mlir": changed(source, HEIR)}


@cache
def seal_case(name: str) -> test_seal.Case:
    """Return SEAL's objects of a scheme, with their set."""
    return test_seal.Case(name)


@cache
def openfhe_context(name: str) -> Context:
    """Return the set of OpenFHE's objects of a case."""
    made = read_object(test_openfhe.KNOWN[name]["parameters"], policy=POLICY)
    assert isinstance(made, _native.BfvContext | _native.CkksContext)
    return made


def seal_files(source: random.Random) -> Files:
    """Return a changed object of SEAL's, outside or inside of its compression."""
    name = source.choice(("bfv", "ckks"))
    (data,) = test_seal.mutations(seal_case(name), source, 1)
    return {name: data}


def openfhe_files(source: random.Random) -> Files:
    """Return a changed object of OpenFHE's, binary or JSON."""
    name = source.choice(list(test_openfhe.KNOWN))
    known = test_openfhe.KNOWN[name]
    objects = [one for one in known if not one.startswith("values")]
    return {name: next(test_openfhe.mutations(objects, known, source, 1))}


def run_object(folder: Path, context_of: Callable[[str], Context]) -> None:
    """Decode the object of a folder with the set of its case, and as a set."""
    (path,) = folder.iterdir()
    data = path.read_bytes()
    if format_of(data) is None:
        return
    with suppress(RingsmithError):
        read_object(data, policy=POLICY)
    read_object(data, context_of(path.name))


def run_seal(folder: Path) -> None:
    """Decode an object of SEAL's."""
    run_object(folder, lambda name: seal_case(name).context)


def run_openfhe(folder: Path) -> None:
    """Decode an object of OpenFHE's."""
    run_object(folder, openfhe_context)


DECODERS: dict[str, tuple[Callable[[random.Random], Files], Callable[[Path], None]]] = {
    "fhetch": (trace_files, run_trace),
    "json": (json_files, run_trace),
    "heir": (heir_files, run_heir),
    "seal": (seal_files, run_seal),
    "openfhe": (openfhe_files, run_openfhe),
}


def write(folder: Path, files: Files) -> None:
    """Write files."""
    for file, content in files.items():
        (folder / file).write_bytes(content.encode() if isinstance(content, str) else content)


def fuzz(name: str, count: int, seed: int, folder: Path) -> Iterator[str]:
    """Run a decoder on `count` changed files; yield what went wrong."""
    make, run = DECODERS[name]
    for number in range(count):
        files = make(random.Random(f"{name} {seed} {number}"))
        for old in folder.iterdir():
            old.unlink()
        write(folder, files)
        begun = time.process_time()
        try:
            run(folder)
        except RingsmithError as refusal:
            if "\n" in str(refusal):
                yield f"{name} {seed} {number}: a message of several lines: {refusal!r}"
        except BaseException as wrong:
            kept = ARTIFACTS / f"{name}-{seed}-{number}"
            kept.mkdir(parents=True, exist_ok=True)
            write(kept, files)
            yield f"{name} {seed} {number}: {type(wrong).__name__}: {wrong}; {kept}"
            if isinstance(wrong, KeyboardInterrupt):
                return
        if (taken := time.process_time() - begun) > 2:
            yield f"{name} {seed} {number}: {taken:.1f} s"


def main(count: int, seed: int, names: list[str]) -> int:
    """Fuzz decoders; return 1 if something went wrong."""
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + LIMIT, resource.RLIM_INFINITY))
    failures = 0
    for name in names or DECODERS:
        begun = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            for wrong in fuzz(name, count, seed, Path(folder)):
                print(wrong, flush=True)
                failures += 1
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
        rate = count / (time.perf_counter() - begun)
        print(f"{name}: {count} inputs, {rate:.0f} a second, {(most - used) >> 20} MiB more than before", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0, sys.argv[3:]))
