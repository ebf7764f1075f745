# SPDX-License-Identifier: Apache-2.0
"""Remedies in messages outside the front end: each names what exists, and is tried; the front end's own are tried by
`frontend/test_remedies.py`, those of parameters by `compiler/test_remedies.py`.

A remedy is the last part of a message, behind the last semicolon or colon, that has code in it: an option of a command,
a keyword, a public name.
"""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer

import ringsmith as rs
from ringsmith import _native, bfv, cli
from ringsmith.heir.test_heir import SQUARE, written
from ringsmith.models.options import Options
from ringsmith.runtime.polynomials import PolynomialCircuit
from ringsmith.runtime.test_refreshes import SMALL, small

PACKAGE = Path(__file__).parent
ROOT = PACKAGE.parents[1]
_OPTION, _NAME, _KEYWORD = r"(?<![\w-])--[a-z][a-z-]+", r"\brs\.[a-z_]+", r"\b[a-z_]+=(?=[\[({\"'A-Za-z0-9])"
_COMMAND = r"\bringsmith (?:[a-z]+)\b"
TOKEN = re.compile("|".join((_OPTION, _NAME, _KEYWORD, _COMMAND)))
#: Options of a port.
PORT = ("baud", "done", "memory")
RAISED = ("Error", "_refuse", "BadParameter")
#: Modules whose messages are those of other tests, or of tools that only developers start.
ELSEWHERE = ("frontend/", "gen/", "hw/")


def messages(source: str) -> Iterator[str]:
    """Yield the texts that a module raises; values stand in braces."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(RAISED):
            yield from filter(None, map(_text, node.args))


def _text(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return _text(node.left) + _text(node.right) if isinstance(node, ast.BinOp) else ""


def remedy(message: str) -> str:
    """Return a message's remedy that has code in it, or nothing."""
    last = message.rpartition(";" if ";" in message else ": ")[2]
    return last.strip() if last != message and TOKEN.search(last) else ""


def sources() -> list[Path]:
    paths = sorted(PACKAGE.rglob("*.py"))
    return [path for path in paths if not path.name.startswith(("test_", "conftest"))]


@cache
def remedies() -> list[str]:
    own = (path for path in sources() if not str(path.relative_to(PACKAGE)).startswith(ELSEWHERE))
    return [found for path in own for text in messages(path.read_text()) if (found := remedy(text))]


# ------------------------------------------------------------------------------------------------ names that exist


@cache
def options() -> set[str]:
    """The options of all commands."""
    group: Any = typer.main.get_command(cli.application())
    found = {"--head"}  # ray's own
    for command in (group, *group.commands.values()):
        for parameter in command.params:
            found |= {*parameter.opts, *parameter.secondary_opts}
    return found


@cache
def keywords() -> set[str]:
    """The keywords of public functions and methods, options of kernels and of models."""
    found = set(Options.__dataclass_fields__)
    for name in rs.__all__:
        value = getattr(rs, name)
        parts = (
            [value, *(part for _, part in inspect.getmembers(value, callable))] if inspect.isclass(value) else [value]
        )
        for part in filter(callable, parts):
            try:
                found |= set(inspect.signature(part).parameters)
            except (TypeError, ValueError):
                continue
    return found


def unknown(text: str) -> list[str]:
    """Return what a remedy names that does not exist."""
    wrong = [name for name in re.findall(_OPTION, text) if name not in options()]
    wrong += [name for name in re.findall(_NAME, text) if not hasattr(rs, name[3:])]
    wrong += [word for word in re.findall(_KEYWORD, text) if word[:-1] not in {*keywords(), "x", *PORT}]
    return wrong + [word for word in re.findall(_COMMAND, text) if word.split()[1] not in cli.VERBS]


def test_remedies_name_what_exists() -> None:
    assert {text: wrong for text in remedies() if (wrong := unknown(text))} == {}


def test_a_planted_wrong_remedy_is_found() -> None:
    planted = """
def f(x):
    raise InputError(f"{x} is not secure; opt in with allow_insecured=True (--allow-unsafe)")
    raise errors.KernelError("too deep; " + f"use rs.refreshed({x}), or ringsmith generates it")
    raise ValueError("no remedy here")
    raise InputError("--shape {x}: whole numbers")
"""
    found = [text for message in messages(planted) if (text := remedy(message))]
    assert len(found) == 2
    assert [unknown(text) for text in found] == [
        ["--allow-unsafe", "allow_insecured="],
        ["rs.refreshed", "ringsmith generates"],
    ]
    assert [text for text in found if not tried(text)] == found


# ------------------------------------------------------------------------------------------------ cases

X = rs.Encrypted(4, bound=1.0)
VALUES = np.array([0.5, -0.25, 1.0, 0.0])
OLD = """
import ringsmith as rs
def double(x):
    return 2 * x
"""
NEW = OLD.replace("def double", "@rs.kernel(x=rs.Encrypted(4, bound=1.0), tolerance=1e-2)\ndef double")
OPEN = NEW.replace("rs.Encrypted(4,", "rs.Encrypted(None,")


def double(**more: Any) -> rs.Kernel:
    return rs.kernel(**{"x": X, "tolerance": 1e-2, "name": "double", **more})(lambda x: 2 * x)


def taking(of: rs.Kernel, **more: Any) -> rs.Kernel:
    return rs.kernel(x=rs.Encrypted(of=of), tolerance=1e-1, name="taking", **more)(lambda x: x + 1)


@cache
def foreign() -> tuple[rs.Program, rs.Program]:
    """Two programs of different parameters."""
    return double().compile(), double(tolerance=1e-6).compile()


@cache
def common() -> list[rs.Program]:
    """The same kernels compiled together."""
    return rs.compile([double(), double(tolerance=1e-6)])


def published(*, publish: bool = True, **client: Any) -> Any:
    program = double(publish=publish).compile()
    owner = program.client(**client)
    result = program.server(owner.evaluation_keys).evaluate(owner.encrypt(x=VALUES))
    return owner.decrypt(result, publish=True)


def evaluated(first: rs.Program, second: rs.Program) -> Any:
    owner = first.client()
    result = first.server(owner.evaluation_keys).evaluate(owner.encrypt(x=VALUES))
    other = owner.for_program(second)
    return other.decrypt(second.server(other.evaluation_keys).evaluate(x=result))


def joined(first: rs.Program, second: rs.Program) -> Any:
    return first.server([first.client().evaluation_keys, second.client().evaluation_keys])


def of_one_owner(first: rs.Program, second: rs.Program) -> Any:
    owner = first.client()
    return first.server([owner.evaluation_keys, owner.for_program(second).evaluation_keys])


def refreshed(high: float) -> Any:
    return rs.kernel(x=X, tolerance=1e-2)(lambda x: rs.refresh(x, lambda v: 3 * np.abs(v), low=0, high=high) + 1)(
        VALUES
    )


def network(**more: Any) -> Any:
    linear = pytest.importorskip("sklearn.linear_model")
    x = np.random.default_rng(0).normal(size=(40, 3))
    return rs.from_sklearn(linear.LinearRegression().fit(x, x @ [1, 2, 3]), x, **more).program


def pinned(**more: Any) -> Any:
    return rs.kernel(scheme="bfv", params="bfv-client", x=rs.Encrypted(4, bound=3), **more)(lambda x: x + 1).compile()


def restored(bootstrapping: rs.Bootstrapping | None) -> Any:
    return rs.kernel(
        x=rs.Encrypted(8, bound=1.0), params=small(own=bootstrapping), tolerance=1e-3, allow_insecure=True
    )(lambda x: rs.bootstrap(x) * 2).compile()


def of_heir(bound: float) -> Any:
    return rs.from_heir(written(Path(tempfile.mkdtemp()), SQUARE + "return %r : !ct1"), bound=bound)


def trace(tmp: Path, modulus: int = 97) -> str:
    head = f"modulus_count 2\nm[0] 0xFFFFFFFFFFFFFFFF\nm[1] {modulus}\n"
    (tmp / "t.fhetch").write_text(f"{head}sr_addp %1, %0, %0, m=1\nhalt\n")
    (tmp / "t.json").write_text('{"n": 8, "inputs": {"0": [1, 2, 3, 4, 5, 6, 7, 8]}, "outputs": [1]}')
    return str(tmp / "t.fhetch")


def with_producer(tmp: Path, name: str) -> list[str]:
    made = rs.compile([first := double(), taking(first)])
    for program, path in zip(made, ("first.rsp", "second.rsp"), strict=True):
        program.save(tmp / path)
    made[0].client().evaluation_keys.save(tmp / "keys.rsk")
    return ["show", str(tmp / name), "--made-by", str(tmp / "first.rsp")]


def ring(modulus: int) -> bfv.Context:
    moduli = _native.default_moduli([30] * 7, 1024, 1024)
    return bfv.Context(1024, moduli[3:6], [], modulus, auxiliary=[*moduli[:3], moduli[6]], allow_insecure=True)


def file(tmp: Path, text: str) -> str:
    (tmp / "kernel.py").write_text(text)
    return str(tmp / "kernel.py")


def program_file(tmp: Path, *, program: bool) -> str:
    made = double().compile()
    (made if program else made.client().evaluation_keys).save(tmp / "file")
    return str(tmp / "file")


EXACT = OLD.replace(
    "def double", "@rs.kernel(scheme='bfv', x=rs.Encrypted(4, bound=1), plain_modulus=65537)\ndef double"
)
Case = tuple[Callable[[], Any], Callable[[], Any]]
#: A part of a remedy, the call that is refused with it, and the call that follows it.
CALLS: dict[str, Case] = {
    "give that very kernel before it": (
        lambda: rs.compile([taking(double())]), lambda: rs.compile([first := double(), taking(first)])
    ),
    'make both "certain", or {} with guarantee="probable"': (
        lambda: rs.compile([first := double(guarantee="probable"), taking(first)]),
        lambda: (
            rs.compile([first := double(), taking(first)]),
            rs.compile([other := double(guarantee="probable"), taking(other, guarantee="probable")]),
        ),
    ),
    "its bound fails too often; make both with publish=True": (
        lambda: rs.compile([first := double(), taking(first, publish=True)]),
        lambda: rs.compile([first := double(publish=True), taking(first, publish=True)]),
    ),
    "opt in with allow_insecure=True": (pinned, lambda: pinned(allow_insecure=True)),
    "widen it in rs.refresh": (lambda: refreshed(1.0), lambda: refreshed(4.0)),
    "or allow most_entries={}": (lambda: network(most_entries=1), lambda: network(most_entries=3)),
    "or allow memory_limit={}": (
        lambda: network(memory_limit=1),
        lambda: (network(memory_limit=1 << 30), network(keys_limit=1 << 22, tolerance=0.1)),
    ),
    "of rs.kernel {}": (lambda: network(tolerence=1e-2), lambda: network(tolerance=1e-2, keys_limit=1 << 30)),
    "use https, or allow_http=True": (
        lambda: rs.connect("http://192.0.2.1", "key"),
        lambda: (rs.connect("https://192.0.2.1", "key"), rs.connect("http://192.0.2.1", "key", allow_http=True)),
    ),
    'make the kernel with encryption="public"': (
        lambda: rs.Encryptor(program := double(encryption="secret").compile(), program.client().public_key),
        lambda: rs.Encryptor(program := double(encryption="public").compile(), program.client().public_key),
    ),
    "compile both kernels together: rs.compile([f, g])": (
        lambda: foreign()[0].client().for_program(foreign()[1]), lambda: common()[0].client().for_program(common()[1])
    ),
    "or with allow_seeded_publish=True": (
        lambda: published(seed="s", sample_data=True),
        lambda: (published(), published(seed="s", sample_data=True, allow_seeded_publish=True)),
    ),
    "make the kernel with publish=True": (lambda: published(publish=False), published),
    "compile both together, rs.compile([f, g])": (
        lambda: evaluated(
            rs.compile([first := double(), taking(first)])[0],
            rs.compile([other := double(name="other"), taking(other)])[1],
        ),
        lambda: evaluated(*rs.compile([first := double(), taking(first)])),
    ),
    "got keys of other parameters": (lambda: joined(*foreign()), lambda: of_one_owner(*common())),
    "@rs.kernel(x=rs.Encrypted(8, bound=1.0), ...)": (
        lambda: rs.kernel(rs.Encrypted(8, bound=1.0)),
        lambda: rs.kernel(x=rs.Encrypted(8, bound=1.0))(lambda x: x).compile(),
    ),
    "use rs.kernel, or a modulus that is not 1 mod {}": (
        lambda: PolynomialCircuit(ring(65537), inputs=1), lambda: PolynomialCircuit(ring(65539), inputs=1)
    ),
    "give its ParamRequest bootstrapping=rs.Bootstrapping(...)": (lambda: restored(None), lambda: restored(SMALL)),
    "bound={} must be a positive finite number": (lambda: of_heir(-1.0), lambda: of_heir(1.0)),
    "compile takes a list of kernels: rs.compile([f, g])": (
        lambda: rs.compile([1]), lambda: rs.compile([double(), double(name="g")])  # type: ignore[list-item]
    ),
}  # fmt: skip
Words = Callable[[Path], list[str]]
#: The same of commands: the words of the refused one, and of those that follow the remedy.
COMMANDS: dict[str, tuple[Words, tuple[Words, ...]]] = {
    "decorate a function with @rs.kernel(...)": (
        lambda t: ["params", file(t, OLD)], (lambda t: ["params", file(t, NEW)],)
    ),
    "ARGUMENT=N,M,... with whole numbers is needed": (
        lambda t: ["compile", file(t, OPEN), "-o", str(t / "p.rsp"), "--shape", "x=a"],
        (lambda t: ["compile", file(t, OPEN), "-o", str(t / "p.rsp"), "--shape", "x=4"],),
    ),
    "ringsmith claims --json shows them": (
        lambda t: ["claims", "--stale", "--only", "no such command"],
        (lambda t: ["claims", "--json"], lambda t: ["claims", "--stale", "--only", "simulate heaws"]),
    ),
    "`ringsmith help` lists them": (lambda t: ["help", "nothing"], (lambda t: ["help"],)),
    "a kernel (.py) or a program (ringsmith compile) is run": (
        lambda t: ["run", program_file(t, program=False)],
        (lambda t: ["run", file(t, NEW)], lambda t: ["run", program_file(t, program=True)]),
    ),
    "--made-by goes with a program": (
        lambda t: with_producer(t, "keys.rsk"), (lambda t: with_producer(t, "second.rsp"),)
    ),
    "there is --on model:PRESET": (
        lambda t: ["run", file(t, EXACT), "--on", "cpu", "--device-only"],
        (lambda t: ["run", file(t, EXACT), "--on", "model:cofhee", "--device-only"],),
    ),
    "a co-processor does: --on model:PRESET": (
        lambda t: ["run", file(t, NEW), "--on", "cpu", "--set", "butterflies=1"],
        (lambda t: ["run", file(t, NEW), "--on", "model:tiny", "--set", "butterflies=1"],),
    ),
    "--on cpu": (
        lambda t: ["run", trace(t, 65539), "--on", "model:tiny"],
        (lambda t: ["run", trace(t, 65539), "--on", "cpu"],),
    ),
    "--on model:PRESET computes a trace on one": (
        lambda t: ["run", trace(t), "--set", "butterflies=1"],
        (lambda t: ["run", trace(t, 65537), "--on", "model:tiny", "--set", "butterflies=1"],),
    ),
    "it takes --input, --seed, --output, --json, --on, --set, --trace and --device-only": (
        lambda t: ["run", trace(t), "--kernel", "f"],
        (
            lambda t: ["run", trace(t), "--seed", "1", "--json"],
            lambda t: ["run", trace(t, 65537), "--on", "model:tiny", "--set", "butterflies=1", "--device-only"],
            lambda t: ["run", trace(t, 65537), "--on", "model:tiny", "--trace", str(t / "r.pftrace")],
            lambda t: ["run", trace(t), "--input", str(t / "t.json"), "--output", str(t / "r.npy")],
        ),
    ),
    "the recorder does: --on record:FILE": (
        lambda t: ["run", file(t, NEW), "--on", "cpu", "--polynomial"],
        (lambda t: ["run", file(t, NEW), "--on", f"record:{t / 'out'}", "--polynomial"],),
    ),
}  # fmt: skip
#: Remedies that another test tries, by its name.
TRIED_BY = {
    "with passes=2 in its rs.Bootstrapping": "test_a_given_set_is_told_that_two_passes_reach_its_tolerance",
    "promise a smaller range with rs.within": "test_integers_beyond_every_modulus_are_refused_with_the_line",
    "pass allow_insecure=True to run it as a toy": "test_encryption_decrypts",
    "fewer primes, more lanes by --set": "test_key_switches_by_themselves_in_flight_and_digit_by_digit",
    "allow inner_error={}": "test_what_is_not_kept_is_refused_with_what_would_do",
    "client.for_program(program, held=keys) makes what is missing": "test_keys_grow_by_the_rotations_that_are_missing",
}
#: Remedies that take a server, a cluster, a board, a full disk or the tools of the hardware flow; their names are
#: checked above.
NOT_HERE = (
    "ringsmith explore kernel.py --board zcu104", "one design there: ringsmith synth", "ringsmith jobs JOB --at URL",
    "a name as ringsmith jobs lists them", "name the file that ringsmith run --client wrote", "what ringsmith serve",
    "it takes no --tls-certificate", "the number of actors, of --threads cores each", "without --on model, --trace",
    "without --family, --board", "without --route {}", "without --operation", "with --liberty the node is not known",
    "fewer --jobs take less memory", "ringsmith claims --measure --only",
    "leave --client out", "name another file with --results",
    "name the file that --client wrote",
    "start one: ray start --head", "or name another --store",
    "done={} must be", "memory={} must be START", "PORT takes no --set", "PORT takes no --trace",
)  # fmt: skip


def tried(text: str) -> bool:
    """Return whether a remedy is tried: here, by another test, or known to need what no test has."""
    known = (*CALLS, *COMMANDS, *TRIED_BY, *NOT_HERE)
    return any(part in text or text in part for part in known)


def test_every_remedy_is_tried() -> None:
    assert [text for text in remedies() if not tried(text)] == []


def test_other_tests_exist() -> None:
    tests = "".join(path.read_text() for path in PACKAGE.rglob("test_*.py"))
    assert [name for name in TRIED_BY.values() if f"def {name}" not in tests] == []


@pytest.mark.parametrize("part", CALLS)
def test_a_remedy_of_a_call_works(part: str) -> None:
    refused, followed = CALLS[part]
    with pytest.raises(rs.RingsmithError) as error:
        refused()
    for words in part.split("{}"):
        assert words in str(error.value)
    followed()


@pytest.mark.parametrize("part", COMMANDS)
def test_a_remedy_of_a_command_works(part: str, tmp_path: Path) -> None:
    def status(words: list[str]) -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, "-m", "ringsmith", *words], capture_output=True, text=True, check=False, timeout=300
        )
        return done.returncode, " ".join(done.stderr.split())

    refused, followed = COMMANDS[part]
    code, told = status(refused(tmp_path))
    assert code == 2
    assert part in told
    for words in followed:
        code, told = status(words(tmp_path))
        assert code == 0, told
