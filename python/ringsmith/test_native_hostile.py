# SPDX-License-Identifier: Apache-2.0
"""Every function, constructor and method of the native module with hostile arguments: no panic, no abort, no hang.

Each parameter in turn takes every hostile value, the others sensible ones. A call may return, or raise an exception; it
may not end the process, panic or take longer than a second. Where the stub asks for a number, `True` is none. The calls
run in a process of their own, which names each one before it makes it.
"""

from __future__ import annotations

import ast
import faulthandler
import inspect
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ringsmith as rs
from ringsmith import _native
from ringsmith.compiler.params.bootstrapping import native
from ringsmith.presets import load_preset
from ringsmith.runtime.identity import Role
from ringsmith.runtime.test_refreshes import by_hand

_SECONDS = 1.0
#: Seconds after which a call that hangs is ended, with a traceback.
_PATIENCE = 60.0
_N = 64

HOSTILE: tuple[Any, ...] = (
    0, -1, 1, 2, 3, 0.0, -1.5, float("nan"), float("inf"), -float("inf"), 1e300, 1e-300, True, None,
    2**31, 2**32, 2**53, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 2**128 - 1, 2**128, -(2**31), -(2**63), -(2**64),
    10**5, 10**9, b"", b"x" * 100, "", "x", "\0", "binomial:99999999999", "gaussian:nan", "gaussian:1e300",
    [], [0], [1], [None], [-1], [1] * 100, [0] * 10_000, [2**62 - 1] * 3, [2**64 - 1] * 3, [2**128 - 1] * 2,
    [True], [-(2**63)], [float("nan")] * 4, [float("inf")], [[]], [[0]], [[2**128 - 1] * 8] * 8, {}, object(), (),
    np.zeros(0), np.zeros((0, 4)), np.zeros((4, 0)), np.array(1.0), np.zeros((2, 2, 2)), np.full(8, np.nan),
    np.full(8, np.inf), np.full(8, 1e308), np.zeros(100_000), np.full(8, 2**63 - 1), np.full(8, -(2**63)),
    np.full(8, 2**64 - 1, dtype=np.uint64), np.zeros(8, dtype=object), np.array(["a"]), np.arange(16.0)[::2], 1 + 1j,
    complex(float("nan"), float("inf")),
)  # fmt: skip


def _circuit(scheme: str) -> Any:
    """Return a product of an input and a plaintext, transformed."""
    circuit = _native.Circuit(scheme, "secret", [1.0], [2], [(False, None, 1.0)])
    circuit.transform(1.0, [(0, [(1, -1)])])
    circuit.step(_native.Step("input", [], 1, 1.0, 2))
    circuit.step(_native.Step("multiply_plain", [0], 1, 1.0, 2, plaintext=0))
    circuit.step(_native.Step("linear_transform", [1], 1, 1.0, 2, transform=0))
    return circuit


def _bootstrapping() -> Any:
    """Return a small, insecure bootstrapping."""
    return native(by_hand.compile().params)


class Scheme:
    """Sensible objects of one scheme, by the names of parameters."""

    def __init__(self, prefix: str) -> None:
        """Make them; `prefix` is Bfv or Ckks."""
        self.prefix = prefix
        moduli = _native.ntt_primes(_N, 40, 3)
        last = 257 if prefix == "Bfv" else 2.0**30
        context = self.named("Context")(_N, moduli[:2], moduli[2:], last, allow_insecure=True)
        generator = _native.KeyGenerator(context, seed=bytes(32))
        secret = generator.secret_key()
        encoder = self.named("Encoder")(context)
        values = np.arange(8, dtype=np.int64 if prefix == "Bfv" else np.float64)
        plaintext = encoder.encode(values)
        ciphertext = self.named("Encryptor")(context, secret, seed=bytes(32)).encrypt(plaintext)
        evaluator = self.named("Evaluator")(context, threads=1)
        more = (last,) if prefix == "Bfv" else ()
        estimator = self.named("Estimator")(_N, moduli[:2], moduli[2:], *more)
        plain_estimate = () if prefix == "Bfv" else (estimator.encode(1.0, 1, 2.0**30),)
        self.estimate = estimator.encrypt_public(*plain_estimate)
        self.galois = generator.galois_keys(secret, [1, 2], conjugate=True)
        self.relin = generator.relin_key(secret)
        self.objects: dict[str, Any] = {
            f"{prefix}Context": context, "KeyGenerator": generator, "SecretKey": secret, "RelinKey": self.relin,
            "GaloisKeys": self.galois, "PublicKey": generator.public_key(secret), f"{prefix}Encoder": encoder,
            f"{prefix}Plaintext": plaintext, f"{prefix}Ciphertext": ciphertext, f"{prefix}Evaluator": evaluator,
            f"{prefix}Encryptor": self.named("Encryptor")(context, secret, seed=bytes(32)),
            f"{prefix}Decryptor": self.named("Decryptor")(context, secret),
            f"{prefix}Estimator": estimator, f"{prefix}Estimate": self.estimate,
            "Security": context.security,
        }  # fmt: skip
        self.sensible: dict[str, Any] = {
            "n": _N, "moduli": moduli[:2], "special": moduli[2:], "plain_modulus": 257, "scale": 2.0**30, "level": 1,
            "bits": 30, "count": 1, "log2_qp": 100.0, "coefficients": [0.5, 1.0], "context": context, "values": values,
            "secret_key": secret, "plaintext": plaintext, "plaintexts": [plaintext], "ciphertext": ciphertext,
            "ciphertexts": [ciphertext], "steps": [1], "keys": self.galois, "slot_error": 1e-6, "fraction_digits": 8,
            "bound": 1.0, "operation": "x", "value": 3, "data": context.to_bytes(), "text": "SYNC", "words": [0],
            "giants": [(True, [(True, None)])], "circuit": _circuit(prefix.lower()), "assume": "all",
            "failure_bits": 40,
            "allow_insecure": True, "security": 128, "table": "2024-classical", "secret": "ternary",
            "error": "binomial:21", "seed": bytes(32), "max_degree": _N, "max_memory": 2**28, "word_bits": 64,
            "device": None, "noise_budget": 60.0, "key_id": b"k" * 16, "element": 3,
            "role": "RESULT", "program": [("circuit", bytes(16))], "parts": [b""],
            "label": _native.message_label("RESULT", [("circuit", bytes(16))], "key"),
        }  # fmt: skip

    def named(self, kind: str) -> Any:
        """Return a class of the scheme."""
        return getattr(_native, self.prefix + kind)

    def argument(self, owner: str, method: str, name: str) -> Any:
        """Return a sensible argument."""
        if name in ("a", "b"):
            if "Estimator" in owner:
                return self.estimate
            kind = "Plaintext" if name == "b" and "plain" in method else "Ciphertext"
            found = self.objects[self.prefix + kind]
            return [found] if "batch" in method else found
        if name == "key":
            return self.objects["SecretKey"] if "ncryptor" in owner else self.relin
        if name == "steps" and method in ("rotate", "rotate_batch"):
            return 1
        if name == "halves":
            return self.objects[owner].halves(*(self.galois.elements[:1] if owner == "GaloisKeys" else []))
        if name == "residues":
            return self.objects[owner].residues()
        if name == "data" and method == "from_bytes" and owner in self.objects:
            return self.objects[owner].to_bytes()
        if name == "values" and "batch" in method:
            return self.sensible["values"].reshape(1, -1)
        return self.sensible[name]


class Programs:
    """A small program, what makes one and what runs it."""

    def __init__(self) -> None:
        """Compile, make keys, encrypt."""
        made = rs.kernel(name="k", x=rs.Encrypted(8, bound=9), w=rs.Plain(8, bound=9), scheme="bfv")(_rolled).compile()
        self.native, self.client, scheme = made.native, made.client(), made.open()
        keys = self.client.evaluation_keys
        galois = _native.GaloisKeys.from_bytes(scheme.context, keys.galois)
        relin = _native.RelinKey.from_bytes(scheme.context, keys.relinearization)
        self.sensible: dict[str, Any] = {
            "data": made.to_bytes(), "own": _bootstrapping(), "context": scheme.context, "name": "k", "variant": "",
            "encryption": "secret",
            "shape": [8], "low": -9, "high": 9, "packing": None, "kind": "argument", "operands": [], "expression": 0,
            "slots": np.arange(8), "bound": 9.0, "file": "k.py", "number": 1, "text": "x", "level": 0, "scale": 1.0,
            "size": 2, "outputs": [0], "result_shape": [8], "result": np.arange(8), "bits": 3.0, "failure_bits": 40,
            "giants": [(0, [(1, -1)])], "transform": 0, "device": None,
            "tolerance": 0.0, "publish": False, "step": 0, "assume": "all", "plain": [np.arange(8)], "seed": bytes(32),
            "inputs": list(self.client.encrypt(x=np.arange(8)).ciphertexts), "program": made.native, "galois": galois,
            "relinearization": relin, "public": None, "allow_insecure": False, "scheme": "bfv", "plaintexts": [],
            "n": 1024, "special": 1, "dnum": 2, "many": [list(self.client.encrypt(x=np.arange(8)).ciphertexts)],
            "seeds": [bytes(32)], "promised": [1.0], "everywhere": [1.0], "received": [],
            "errors": [1.0], "results": [1.0],
            "state": None, "keep": len,
        }  # fmt: skip
        labels = tuple(made.label(role, keys.label.key).to_bytes() for role in (Role.ARGUMENTS, Role.RESULT))
        self.sensible |= {"message": self.client.encrypt(x=np.arange(8)).to_bytes(), "labels": labels}
        self.session = _native.Session(made.native, scheme.context, relin, galois, None)

    def made(self, owner: str) -> Any:
        """Return an object of a class."""
        context = self.sensible["context"]
        builders = {"Program": self.native, "Session": self.session, "Circuit": _circuit("bfv")}
        return builders.get(owner) or _native.ProgramBuilder("k", "", context, "secret")

    def argument(self, owner: str, method: str, name: str) -> Any:
        """Return a sensible argument."""
        if owner == "Circuit" and name in ("inputs", "data"):
            return [1.0] if name == "inputs" else 2
        if (method, name) in (("packing", "name"), ("producer", "name")):
            return "x"
        if (method, name) == ("clear", "inputs"):
            return [np.zeros(self.native.slots, dtype=np.int64)]
        return "input" if (method, name) == ("step", "kind") else self.sensible[name]


def _rolled(x: Any, w: Any) -> Any:
    return (x + np.roll(x, 1)) * x * w


class Co:
    """A fresh model of a small co-processor, and arguments for it."""

    def __init__(self) -> None:
        """Open the model."""
        preset = load_preset("tiny")
        knobs = preset.numbers()
        self.device = _native.Device.model("tiny", list(preset.operations), knobs, preset.port_memory)
        info = self.device.info()
        n = 1 << info["log2_n_max"]
        bits = min(info["word_bits"], 30)
        moduli = _native.default_moduli([bits] * info["lanes"], n, n)
        self.sensible: dict[str, Any] = {
            "name": "polymul", "operations": ["polymul"], "knobs": knobs, "memory": preset.port_memory,
            "library": "/nonexistent.so", "options": "", "port": "/nonexistent", "baud": 115_200, "patience": 0.1,
            "device": "none", "buffers": None, "card": 0, "polls": False, "root": "/nonexistent",
            "index": 0, "moduli": moduli, "values": [1] * info["lanes"], "n": n, "count": 1, "buffer": 0,
            "polynomial": [[0] * n] * info["lanes"], "words": [0], "on": False, "after_cycles": 0, "for_cycles": 0,
            "seed": 1, "length": 3, "outputs": 1, "mnemonic": "PMODADD", "word_bits": 64, "bits": [30], "n_max": n,
            "number": 0, "first": 0, "inputs": moduli[:1], "numerator": 3, "routes": [(0, 0)], "element": 3,
            "sources": [0] * info["lanes"], "primes": moduli, "lanes": moduli,
            "allow_insecure": True, "program": Programs().native, "digit_major": False, "batch": 1,
            "digit_primes": 1, "purpose": "rotation",
        }  # fmt: skip
        self.special: dict[tuple[str, str], Any] = {
            ("xdma", "memory"): (0, 1 << 20), ("random_program", "moduli"): 1, ("set_conversion", "outputs"): moduli,
            ("simulate_key_switch", "primes"): 1, ("simulate_key_switch", "special"): 1,
        }  # fmt: skip

    def argument(self, _owner: str, method: str, name: str) -> Any:
        """Return a sensible argument."""
        return self.special[method, name] if (method, name) in self.special else self.sensible[name]


class Residues:
    """Programs of polynomial operations, and arguments for them."""

    def __init__(self) -> None:
        """Collect the arguments."""
        self.sensible: dict[str, Any] = {
            "n": _N, "families": [[(q, 0)] for q in _native.ntt_primes(_N, 30, 2)], "form": "values", "moduli": [1],
            "operation": "neg", "operands": [[0]], "constants": [], "operand": [0], "element": 3, "numerator": 1,
            "limbs": [0], "sources": [np.ones((1, _N), dtype=np.uint64)], "device": None, "alone": False,
        }  # fmt: skip

    def made(self, _owner: str) -> Any:
        """Return a program of one source."""
        program = _native.Polynomials(_N, self.sensible["families"])
        program.source("values", [0])
        return program

    def argument(self, _owner: str, _method: str, name: str) -> Any:
        """Return a sensible argument."""
        return self.sensible[name]


def _callables(made: Any, targets: Iterator[tuple[str, Any]]) -> Iterator[tuple[str, str, Any]]:
    """Return (owner, method, callable) of each target: itself when it is a function, else what it offers."""
    for owner, target in targets:
        if not isinstance(target, type):
            yield owner, owner, target
            continue
        if not owner.endswith("Estimate") and owner not in ("Security", "Device", "Program", *_UNMADE):
            yield owner, "__new__", target
        instance = made(owner)
        for method in dir(target):
            if not method.startswith("_") and callable(getattr(target, method)):
                yield owner, method, getattr(instance, method)


_UNMADE = (
    "SecretKey", "PublicKey", "RelinKey", "GaloisKeys",
    "BfvPlaintext", "BfvCiphertext", "CkksPlaintext", "CkksCiphertext",
)  # fmt: skip


def _annotations() -> dict[tuple[str, str, str], str]:
    """Return what the stub says of each parameter: by class and method (or twice the function), and name."""
    found = {}
    for node in ast.parse(Path(_native.__file__).with_name("_native.pyi").read_text()).body:
        for own in node.body if isinstance(node, ast.ClassDef) else [node]:
            if isinstance(own, ast.FunctionDef):
                owner = node.name if isinstance(node, ast.ClassDef) else own.name
                for one in (*own.args.args, *own.args.kwonlyargs):
                    found[owner, own.name, one.arg] = ast.unparse(one.annotation) if one.annotation else ""
    return found


#: What stands for numbers in the stub, and the values that are none there though Python takes them for 1.
_NUMBERS = {
    **dict.fromkeys(("int", "float", "int | None", "float | None"), ("True",)),
    **dict.fromkeys(("Sequence[int]", "Sequence[float]"), ("True", "[True]")),
}

#: Call by name, and whether it has to be refused as no number.
Call = tuple[str, Callable[[], Any], bool]


def _calls(source: Scheme | Co | Programs | Residues, made: Any, targets: Iterator[tuple[str, Any]]) -> Iterator[Call]:
    """Return every call with one hostile argument."""
    annotations = _annotations()
    for owner, method, function in _callables(made, targets):
        parameters = inspect.signature(function).parameters
        usual = {
            name: source.argument(owner, method, name)
            for name, p in parameters.items()
            if p.default is p.empty or name == "allow_insecure"
        }
        for changed in parameters:
            mistaken = _NUMBERS.get(annotations[owner, method, changed], ())
            for value in HOSTILE:
                given = {**usual, changed: value}
                args = [given.pop(n) for n, p in parameters.items() if n in given and p.kind is not p.KEYWORD_ONLY]
                label = f"{owner}.{method}({changed}={str(value)[:40]!r} {type(value).__name__})"
                yield label, partial(function, *args, **given), repr(value) in mistaken


def _all_calls(part: str) -> Iterator[Call]:
    if part == "Device":
        yield from _calls(Co(), lambda _: Co().device, iter([("Device", _native.Device)]))
        return
    if part == "Polynomials":
        residues = Residues()
        yield from _calls(residues, residues.made, iter([("Polynomials", _native.Polynomials)]))
        return
    if part == "functions":
        scheme, co = Scheme("Bfv"), Co()
        ours = [n for n in _native.__all__ if inspect.isbuiltin(getattr(_native, n))]
        device = ("default_moduli", "predict")
        yield from _calls(scheme, None, ((n, getattr(_native, n)) for n in ours if n not in device))
        yield from _calls(co, None, ((n, getattr(_native, n)) for n in device))
        return
    if part == "Program":
        programs = Programs()
        classes = ((n, getattr(_native, n)) for n in ("Program", "ProgramBuilder", "Circuit", "Session"))
        yield from _calls(programs, programs.made, classes)
        return
    scheme = Scheme(part)
    yield from _calls(scheme, scheme.objects.__getitem__, ((o, getattr(_native, o)) for o in scheme.objects))


def attack(part: str) -> None:
    """Make every call and print what went wrong, with the number of calls at the end."""
    count = 0
    log = sys.stderr
    for label, call, mistaken in _all_calls(part):
        log.write(f"\n{label}")
        log.flush()
        faulthandler.dump_traceback_later(_PATIENCE, exit=True)
        start = time.perf_counter()
        try:
            call()
            if mistaken:
                print(f"{label}: taken for a number")
        except Exception as refusal:
            if mistaken and not isinstance(refusal, TypeError):
                print(f"{label}: {refusal}")
        except BaseException as panic:
            print(f"{label}: {type(panic).__name__}: {panic}")
        seconds = time.perf_counter() - start
        if seconds > _SECONDS:
            print(f"{label}: {seconds:.1f} s")
        count += 1
    faulthandler.cancel_dump_traceback_later()
    print(f"calls {count}")


@pytest.mark.parametrize(
    ("part", "least"),
    [("functions", 1000), ("Bfv", 8000), ("Ckks", 8000), ("Device", 2000), ("Program", 2000), ("Polynomials", 1000)],
)
def test_no_argument_ends_panics_or_hangs(part: str, least: int, tmp_path: Path) -> None:
    log = tmp_path / "calls"
    with log.open("w") as names:
        done = subprocess.run(
            [sys.executable, "-c", f"from ringsmith.test_native_hostile import attack; attack({part!r})"],
            stdout=subprocess.PIPE, stderr=names, text=True, check=False,
        )  # fmt: skip
    *findings, last = done.stdout.splitlines() or [""]
    assert done.returncode == 0, "\n".join(log.read_text(errors="replace").splitlines()[-3:])
    assert not findings, "\n".join(findings)
    assert int(last.split()[1]) >= least
