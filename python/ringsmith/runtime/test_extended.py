# SPDX-License-Identifier: Apache-2.0
"""Encryption under an extended public key, over Q·P: from the low-level classes to kernels, clients and devices."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ringsmith as rs
from ringsmith import _native, bfv, ckks
from ringsmith.frontend.param_request import ParamRequest
from ringsmith.runtime.client import Client
from ringsmith.runtime.devices import open_device
from ringsmith.runtime.program import Program

SEED = bytes(range(32))
SCHEMES = ["bfv", "ckks"]


def kernel(scheme: str, **options: Any) -> rs.Kernel:
    """A product and a sum of rotations."""
    bound = 8 if scheme == "bfv" else 1.0
    make = rs.kernel(scheme=scheme, x=rs.Encrypted(8, bound=bound), tolerance=1e-4, **options)
    return make(lambda x: rs.sum(x * x) + x)


def pinned(scheme: str, data: int, special: int) -> ParamRequest:
    """A set of `data` and `special` primes of 45 bits at n = 4096."""
    primes = tuple(_native.ntt_primes(4096, 45, data + special, exclude=[]))
    own: dict[str, Any] = {"plain_modulus": 65537} if scheme == "bfv" else {"log2_scale": 40.0}
    return ParamRequest(scheme=scheme, n=4096, moduli=primes[:data], special=primes[data:], **own)


def data(scheme: str) -> Any:
    return np.arange(8) - 4 if scheme == "bfv" else np.linspace(-1, 1, 8)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_kernel_s_inputs_under_an_extended_key(scheme: str, tmp_path: Path) -> None:
    made, x = kernel(scheme, encryption="extended"), data(scheme)
    made.compile().save(tmp_path / "program.rsp")
    program = rs.load(tmp_path / "program.rsp")
    assert isinstance(program, Program)
    assert program.encryption == "extended"
    client = program.client()
    client.save(tmp_path / "client.rsc")
    client = Client.from_bytes((tmp_path / "client.rsc").read_bytes())
    for side in (client, program.encryptor(client.public_key)):
        sent = side.encrypt(x=x)
        answer = program.server(client.evaluation_keys).evaluate(sent)
        np.testing.assert_allclose(client.decrypt(answer), made.clear(x=x), atol=1e-4)


def test_estimates_gain_four_bits() -> None:
    request = pinned("bfv", 3, 1)
    exact = bfv.Estimator(4096, list(request.moduli), list(request.special), 65537)
    public, extended, secret = map(
        exact.log2_budget, (exact.encrypt_public(), exact.encrypt_extended(), exact.encrypt_secret())
    )
    assert 3.9 < extended - public < 4.1
    assert extended < secret
    made = kernel("ckks", params=pinned("ckks", 3, 1), allow_insecure=True)
    errors = [made.options(encryption=key).compile().noise_bits for key in ("secret", "extended", "public")]
    assert errors == sorted(errors)
    assert len(set(errors)) == 3


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_set_without_special_primes_is_refused_in_one_line(scheme: str) -> None:
    request = replace(pinned(scheme, 3, 0), name="bare")
    primes = request.moduli
    made = rs.kernel(
        scheme=scheme, x=rs.Encrypted(8, bound=4), params=request, allow_insecure=True, tolerance=0.1,
        encryption="extended",
    )(lambda x: x + x)  # fmt: skip
    with pytest.raises(rs.ParameterError, match="needs special primes, the set bare has none") as caught:
        made.compile()
    assert "\n" not in str(caught.value)
    context = (
        bfv.Context(4096, list(primes), [], 65537, allow_insecure=True)
        if scheme == "bfv"
        else ckks.Context(4096, list(primes), [], 2.0**40, allow_insecure=True)
    )
    generator = bfv.KeyGenerator(context, seed=SEED)
    with pytest.raises(rs.ParameterError, match="an extended public key needs special primes"):
        generator.public_key(generator.secret_key(), extended=True)


def test_a_chosen_set_has_a_special_prime_for_it() -> None:
    made = rs.kernel(scheme="bfv", x=rs.Encrypted(8, bound=4))(lambda x: x + x)
    assert not made.compile().params.special
    program = made.options(encryption="extended").compile()
    assert len(program.params.special) == 1
    assert program.params.security.enough


def test_the_other_kind_of_key_is_refused() -> None:
    made = kernel("bfv")
    public, extended = (made.options(encryption=key).compile() for key in ("public", "extended"))
    with pytest.raises(rs.KeyMismatchError, match=r"differs in .*encryption"):
        extended.encryptor(public.client().public_key)
    # A key that its label says to be of this program, and is not.
    client = extended.client()
    generator = _native.KeyGenerator(extended.open().context, seed=SEED)
    secret = _native.SecretKey.from_bytes(extended.open().context, client.secret_key)
    wrong = type(client.public_key)(client.public_key.label, bytes(generator.public_key(secret).to_bytes()))
    with pytest.raises(rs.KeyMismatchError, match="takes the extended public key, this is the public key"):
        extended.encryptor(wrong)


@pytest.mark.parametrize("kind", ["model", pytest.param("rtl", marks=pytest.mark.hw)])
def test_a_device_gives_the_same_bytes(kind: str) -> None:
    primes = _native.ntt_primes(256, 30, 3, exclude=[])
    context = bfv.Context(256, primes[:2], primes[2:], 7681, allow_insecure=True)
    keys = bfv.KeyGenerator(context, seed=SEED)
    key = keys.public_key(keys.secret_key(), extended=True)
    assert key.extended
    assert bfv.PublicKey.from_bytes(context, key.to_bytes()).extended
    plain = bfv.Encoder(context).encode(np.arange(256))
    device = open_device(kind, "tiny").native
    ours = bfv.Encryptor(context, key, seed=SEED, device=device).encrypt(plain)
    assert ours.to_bytes() == bfv.Encryptor(context, key, seed=SEED).encrypt(plain).to_bytes()
    usage = device.take_usage()
    assert (usage["offloaded"], usage["on_host"]) == ({"zero-encrypt": 1}, {})


def test_the_command_line_knows_it(tmp_path: Path) -> None:
    file = tmp_path / "k.py"
    file.write_text(
        "import ringsmith as rs\n\n"
        "@rs.kernel(scheme='bfv', x=rs.Encrypted(4, bound=3))\ndef double(x):\n    return x + x\n"
    )

    def run(key: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "ringsmith", "run", str(file), "--encrypt", key]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    assert run("extended").returncode == 0
    wrong = run("open")
    assert wrong.returncode == 2
    assert "--encrypt open: public, extended, secret" in wrong.stderr
