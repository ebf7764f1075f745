# SPDX-License-Identifier: Apache-2.0
"""A CKKS client on a co-processor: the same bytes as on the processor, and a report of what ran where."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ringsmith as rs
from ringsmith import _native
from ringsmith.errors import InputError
from ringsmith.runtime.devices import OpenDevice, open_device
from ringsmith.runtime.engine import EngineOptions
from ringsmith.runtime.engines import open_engine

KINDS = ["model", pytest.param("rtl", marks=pytest.mark.hw)]
SEED = bytes(range(32))


def client(device: OpenDevice | None) -> tuple[list[bytes], list[Any]]:
    """Encrypt under all three kinds of key, decrypt two and three parts and publish; all bytes and the answers.

    A toy ring that fits `tiny`: n = 256, every prime below 32 bits.
    """
    primes = _native.ntt_primes(256, 30, 3, exclude=[])
    ctx = _native.CkksContext(256, primes[:2], primes[2:], scale=2.0**20, allow_insecure=True)
    native = None if device is None else device.native
    keys = _native.KeyGenerator(ctx, seed=SEED)
    secret = keys.secret_key()
    encoder, evaluator = _native.CkksEncoder(ctx), _native.CkksEvaluator(ctx)
    message = encoder.encode(np.linspace(-1.0, 1.0, 128))
    made = []
    for key in (keys.public_key(secret), keys.public_key(secret, extended=True), secret):
        encryptor = _native.CkksEncryptor(ctx, key, seed=SEED, device=native)
        made += [encryptor.encrypt(message), *encryptor.encrypt_batch([message]), encryptor.encrypt_zero(level=0)]
    decryptor = _native.CkksDecryptor(ctx, secret, device=native)
    product = evaluator.multiply(made[0], made[-3])
    opened = [*decryptor.decrypt_batch([made[0], product]), decryptor.decrypt(made[2])]
    opened.append(decryptor.decrypt_for_publication(made[0], 1e-6, seed=SEED))
    return [one.to_bytes() for one in made], [encoder.decode(one).tolist() for one in opened]


@pytest.mark.parametrize("kind", KINDS)
def test_a_ckks_client_gives_the_same_bytes_on_a_device(kind: str) -> None:
    device = open_device(kind, "tiny")
    ours, theirs = client(device), client(None)
    assert ours == theirs
    assert np.allclose(ours[1][0], np.linspace(-1.0, 1.0, 128), atol=1e-2)
    usage = device.native.take_usage()
    assert usage["offloaded"] == {"zero-encrypt": 9, "decrypt": 4}
    assert usage["on_host"] == {}
    assert usage["predicted_cycles"] == usage["cycles"]


@rs.kernel(x=rs.Encrypted(8, bound=1.0), w=rs.Plain(8, bound=1.0), params="coxhe-8192-43", tolerance=1.0)
def weighted(x: Any, w: Any) -> Any:
    """A plain product."""
    return x * w


@pytest.mark.parametrize("preset", ["coxhe-zcu102-f2", "coxhe-zcu104-f1"])
def test_a_client_on_a_device_talks_to_any_server(preset: str) -> None:
    program = weighted.compile()
    engine = open_engine(f"model:{preset}")
    there, here = (program.client(seed="7", sample_data=True, on=on) for on in (engine, None))
    x, w = np.arange(8) / 8, np.ones(8)
    sent = there.encrypt(x=x)
    assert sent.ciphertexts == here.encrypt(x=x).ciphertexts
    result = program.server(there.evaluation_keys).evaluate(sent, w=w)
    assert (there.decrypt(result) == here.decrypt(result)).all()
    facts = engine.report(1.0)
    assert facts["offloaded"] == {"zero-encrypt": 1, "decrypt": 1}
    assert facts["on_host"] == facts["on_host_because"] == {}
    assert facts["device"]["cycles"] > 0


def test_a_report_says_why_the_host_did_it() -> None:
    overrides = ('operations=["polymul", "tensor", "key-switch"]',)
    engine = open_engine("model:coxhe-zcu104-f1", EngineOptions(overrides))
    report = rs.run(weighted, seed="7", engine=engine).json()
    assert report["on_host"]["decrypt"] == 1
    assert "do not name it" in report["on_host_because"]["decrypt"]
    # Primes of 43 bits do not fit words of 25.
    narrow = open_engine("model:coxhe-zcu104-b1")
    assert "the build lacks" in rs.run(weighted, seed="7", engine=narrow).json()["on_host_because"]["decrypt"]
    with pytest.raises(InputError, match="no engine 'fpga'"):
        weighted.compile().client(on="fpga")


def test_the_operations_of_a_ckks_client_are_measured() -> None:
    device = open_device("model", "coxhe-zcu102-p8")
    moduli = _native.default_moduli(list(device.preset.lane_bits()), 4096, device.preset.n_max)
    for name, transforms in (("zero-encrypt", 3), ("decrypt", 0)):
        outcome = device.native.simulate_operation(name, moduli, 4096, values=True)
        assert outcome["correct"]
        assert outcome["cycles"] == outcome["predicted_cycles"]
        assert outcome["assembly"].count("ntt") == transforms
