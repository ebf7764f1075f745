# SPDX-License-Identifier: Apache-2.0
"""Compilations that take long: what they tell, and how long the longest known one takes."""

from __future__ import annotations

import io
import sys
import threading
import time
from typing import Any

import numpy as np
import pytest

import ringsmith as rs
from ringsmith import progress
from ringsmith.errors import ParameterError


def by_rows(n: int) -> rs.Kernel:
    declared: dict[str, Any] = {name: rs.Encrypted(n, n, bound=1.0, packing="rows") for name in "ab"}
    return rs.kernel(**declared, tolerance=1e-3)(lambda a, b: a @ b)


def test_a_compilation_tells_what_it_does() -> None:
    told: list[str] = []
    square = rs.kernel(x=rs.Encrypted(4, 4, bound=1.0), tolerance=1e-3)(lambda x: x @ x)
    square.compile(told.append)
    assert any(text.startswith("layouts for ") and text.endswith(" s for the others") for text in told)
    assert any("primes, scale 2^" in text for text in told)
    silent = len(told)
    rs.kernel(x=rs.Encrypted(4, bound=1.0))(lambda x: x * x).compile()
    assert len(told) == silent
    rs.compile([square.options(tolerance=2e-3)], progress=told.append)
    assert len(told) > silent


def test_keys_beyond_the_limit_are_told_and_so_are_the_degrees_that_did_not_do() -> None:
    told: list[str] = []
    free = by_rows(16).options(keys_limit=None).compile()
    program = by_rows(16).options(keys_limit=10 << 20).compile(told.append)
    assert any("rotations, one after the other by the distances" in text for text in told)
    assert program.rotation_keys < free.rotation_keys
    degrees = [one.n for one in program.rejected]
    assert degrees == sorted(set(degrees))
    assert degrees[: len(free.rejected)] == [one.n for one in free.rejected]
    assert max(degrees) < program.params.n
    # Degrees that did not do are not tried again.
    assert sum("one after the other" in text for text in told) == 1
    fewer = by_rows(16).options(keys_limit=2_000_000)
    told.clear()
    with pytest.raises(ParameterError):
        fewer.compile(told.append)
    assert any("may have keys: the others made of powers of two" in text for text in told)


def test_a_run_tells_the_steps_of_its_compilation() -> None:
    told: list[str] = []
    doubled = rs.kernel(x=rs.Encrypted(4, bound=1.0))(lambda x: x + x)
    assert rs.run(doubled, seed="1", progress=told.append).correct
    assert any(text.startswith("compile: layouts for ") for text in told)
    assert told.index("compile") < told.index("encrypt")


def test_an_argument_may_be_called_progress() -> None:
    made = rs.kernel(progress=rs.Encrypted(None, bound=1.0))(lambda progress: progress * 2)
    told: list[str] = []
    assert made.compile(told.append, progress=(5,)).signature.arguments["progress"][0] == (5,)
    assert told


def test_what_is_told_raises_and_threads_are_apart() -> None:
    def stop(_: str) -> None:
        raise KeyboardInterrupt

    made = rs.kernel(x=rs.Encrypted(4, bound=1.0))(lambda x: x * x)
    with pytest.raises(KeyboardInterrupt):
        made.compile(stop)
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(made.compile()))
    thread.start()
    thread.join()
    assert found[0].params.n >= 4096


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_a_long_call_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal, pipe = Terminal(), io.StringIO()
    monkeypatch.setattr(progress, "_QUIET", 0.0)
    monkeypatch.setattr(progress, "_UPDATE", 0.001)
    monkeypatch.setattr(sys, "stderr", terminal)

    def waiting(x: Any) -> Any:
        seen = len(terminal.getvalue())
        while len(terminal.getvalue()) == seen and sys.stderr is terminal:
            time.sleep(0.001)
        return x * x

    made = rs.kernel(x=rs.Encrypted(4, bound=1.0))(waiting)
    made.compile()
    assert "\rtrace the function, 0 s" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\x1b[K")
    shown = len(terminal.getvalue())
    monkeypatch.setattr(sys, "stderr", pipe)
    rs.kernel(x=rs.Encrypted(4, bound=1.0))(waiting).compile()
    assert len(terminal.getvalue()) == shown
    assert not pipe.getvalue()


def test_a_short_call_shows_nothing_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(progress, "_QUIET", 60.0)
    with progress.telling(None):
        progress.tell("a step")
    assert not terminal.getvalue()


@pytest.mark.slow
def test_the_longest_compilation_known_is_bounded() -> None:
    """An encrypted 32x32 product laid out by rows: transforms of hundreds of rotations, whose keys are made fewer."""
    start = time.process_time()
    program = by_rows(32).compile()
    assert time.process_time() - start < 20  # 4 s; room for a busy machine
    # Rotations of one ciphertext belong to a transform: its terms are what takes long, not steps.
    assert program.native.key_switches > 500
    a, b = np.random.default_rng(3).uniform(-1, 1, (2, 32, 32))
    client = program.client("7", sample_data=True)
    found = client.decrypt(program.server(client.evaluation_keys).evaluate(client.encrypt(a=a, b=b)))
    np.testing.assert_allclose(found, a @ b, atol=1e-3)
