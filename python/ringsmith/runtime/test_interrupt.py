# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C within one submission of a device: the run ends within a second, the device is reset and serves on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ringsmith as rs
from ringsmith import _native, bfv
from ringsmith.frontend.param_request import ParamRequest
from ringsmith.runtime.devices import open_device

#: Cycles that take minutes to simulate: what hangs is not given up before the signal comes.
MINUTES = 10**8


@rs.kernel(scheme="bfv", x=rs.Encrypted(256, bound=20), y=rs.Encrypted(256, bound=20))
def products(x: Any, y: Any) -> Any:
    """Products of two encrypted vectors."""
    return x * y


@contextmanager
def interrupted(after: float) -> Iterator[None]:
    """Send this process a SIGINT after `after` seconds; the body has to end within a second of it."""
    sent: list[float] = []

    def send() -> None:
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(after, send)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            yield
        assert time.monotonic() - sent[0] < 1.0
    finally:
        timer.cancel()
        timer.join()


@pytest.mark.hw
def test_a_run_on_the_rtl_ends_within_a_submission() -> None:
    primes = tuple(_native.ntt_primes(256, 31, 4, exclude=[]))
    params = ParamRequest(scheme="bfv", n=256, moduli=primes[:3], special=primes[3:], plain_modulus=7681)
    program = products.options(params=params, allow_insecure=True).compile()
    client = program.client("7", sample_data=True)
    sent = client.encrypt(x=np.arange(256) % 20, y=np.arange(256) % 7)
    device = open_device("rtl", "tiny").native
    server = replace(program, device=device).server(client.evaluation_keys)
    expected = server.evaluate(sent).ciphertexts
    # The host memory does not answer.
    device.inject_stall(True, patience=MINUTES)
    with interrupted(0.2):
        server.evaluate(sent)
    assert server.evaluate(sent).ciphertexts == expected


@pytest.mark.hw
def test_a_client_s_encryption_on_the_rtl_ends_within_a_submission() -> None:
    primes = _native.ntt_primes(256, 30, 12, exclude=[])
    context = bfv.Context(256, primes, [], 7681, allow_insecure=True)
    keys = bfv.KeyGenerator(context, seed=bytes(32))
    secret = keys.secret_key()
    device = open_device("rtl", "tiny").native
    encryptor = bfv.Encryptor(context, keys.public_key(secret), seed=bytes(32), device=device)
    plain = bfv.Encoder(context).encode(np.arange(256))
    device.inject_stall(True, patience=MINUTES)
    with interrupted(0.2):
        encryptor.encrypt_batch([plain, plain])
    here = bfv.Encryptor(context, keys.public_key(secret), seed=bytes(32))
    expected = here.encrypt_batch([plain, plain, plain])[2]
    assert encryptor.encrypt(plain).to_bytes() == expected.to_bytes()


STALLED = """
import sys
from ringsmith.runtime import coprocessor
opened = coprocessor.open_device

def stalled(*args):
    device = opened(*args)
    device.native.inject_stall(True, patience=10**8)
    print("ready", file=sys.stderr, flush=True)
    return device

coprocessor.open_device = stalled
from ringsmith.__main__ import main
sys.exit(main())
"""
KERNEL = """
import ringsmith as rs
from ringsmith import _native
from ringsmith.frontend.param_request import ParamRequest

primes = tuple(_native.ntt_primes(256, 31, 4, exclude=[]))
params = ParamRequest(scheme="bfv", n=256, moduli=primes[:3], special=primes[3:], plain_modulus=7681)

@rs.kernel(scheme="bfv", x=rs.Encrypted(256, bound=20), params=params, allow_insecure=True)
def square(x):
    return x * x
"""


@pytest.mark.hw
def test_the_command_line_leaves_nothing_half_written(tmp_path: Path) -> None:
    (tmp_path / "k.py").write_text(KERNEL)
    files = ["--output", str(tmp_path / "out.npy"), "--trace", str(tmp_path / "trace")]
    command = [sys.executable, "-c", STALLED, "run", str(tmp_path / "k.py"), "--on", "rtl:tiny", *files]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        assert child.stderr is not None
        while child.stderr.readline() not in ("ready\n", ""):
            pass
        time.sleep(0.5)
        child.send_signal(signal.SIGINT)
        start = time.monotonic()
        out, err = child.communicate(timeout=30)
    assert (child.returncode, out, err.splitlines()[-1]) == (130, "", "interrupted")
    assert time.monotonic() - start < 2.0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["k.py"]
