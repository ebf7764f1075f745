# SPDX-License-Identifier: Apache-2.0
"""Clients and programs on a co-processor: the same bytes as on the processor, and a report of what ran where."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ringsmith as rs
from ringsmith import _native
from ringsmith.errors import DeviceError, InputError, ParameterError
from ringsmith.frontend.param_request import ParamRequest
from ringsmith.presets import OPERATIONS
from ringsmith.runtime.coprocessor import DeviceEngine
from ringsmith.runtime.devices import OpenDevice, open_device
from ringsmith.runtime.engine import EngineOptions
from ringsmith.runtime.engines import open_engine
from ringsmith.runtime.server import Server

KINDS = ["model", pytest.param("rtl", marks=pytest.mark.hw)]
SEED = bytes(range(32))


def client(device: OpenDevice | None) -> tuple[list[bytes], list[list[int]]]:
    """Encrypt under both keys, multiply on this processor, decrypt two and three parts; all bytes and the answers.

    A toy ring that fits `tiny`: n = 256, every prime below 32 bits.
    """
    primes = _native.ntt_primes(256, 30, 3, exclude=[])
    ctx = _native.BfvContext(256, primes[:2], primes[2:], 7681, allow_insecure=True)
    native = None if device is None else device.native
    keys = _native.KeyGenerator(ctx, seed=SEED)
    secret = keys.secret_key()
    public = _native.BfvEncryptor(ctx, keys.public_key(secret), seed=SEED, device=native)
    symmetric = _native.BfvEncryptor(ctx, secret, seed=SEED, device=native)
    encoder, evaluator = _native.BfvEncoder(ctx), _native.BfvEvaluator(ctx)
    a, b = (e.encrypt(encoder.encode(np.arange(256) + shift)) for e, shift in ((public, 1), (symmetric, -5)))
    product = evaluator.multiply(a, b)
    short = evaluator.relinearize(product, keys.relin_key(secret))
    decryptor = _native.BfvDecryptor(ctx, secret, device=native)
    answers = [encoder.decode(decryptor.decrypt(value)).tolist() for value in (short, product)]
    assert decryptor.noise_budget(short) == _native.BfvDecryptor(ctx, secret).noise_budget(short)
    return [value.to_bytes() for value in (a, b, public.encrypt_zero())], answers


@pytest.mark.parametrize("kind", KINDS)
def test_a_bfv_client_gives_the_same_bytes_on_a_device(kind: str) -> None:
    device = open_device(kind, "tiny")
    ours, answers = client(device)
    theirs, expected = client(None)
    assert ours == theirs
    assert answers == expected
    clear = (np.arange(256) + 1) * (np.arange(256) - 5) % 7681
    assert all((np.array(answer) % 7681 == clear).all() for answer in answers)
    usage = device.native.take_usage()
    assert usage["offloaded"] == {"zero-encrypt": 3, "delta-m-decrypt": 3}
    assert usage["on_host"] == {}
    assert usage["compute_cycles"] > 0
    assert usage["send"]["bytes"] > usage["receive"]["bytes"] > 0


def test_a_client_s_device_that_hangs_is_an_error_of_the_device() -> None:
    device = open_device("model", "tiny")
    device.native.inject_stall(True)
    with pytest.raises(DeviceError, match=r"model:tiny: instruction 0 \(load "):
        client(device)


@rs.kernel(scheme="bfv", x=rs.Encrypted(256, bound=20), y=rs.Encrypted(256, bound=20))
def products(x: Any, y: Any) -> Any:
    """Products of two encrypted vectors."""
    return x * y


@pytest.mark.parametrize("cores", [1, 2])
def test_many_sets_at_a_time_give_the_bytes_of_single_runs(cores: int) -> None:
    primes = tuple(_native.ntt_primes(256, 31, 4, exclude=[]))
    params = ParamRequest(scheme="bfv", n=256, moduli=primes[:3], special=primes[3:], plain_modulus=7681)
    device = open_device("model", "tiny", {"cores": cores}).native
    compiled = products.options(params=params, allow_insecure=True).compile()
    program, rng = replace(compiled, device=device), np.random.default_rng(7)
    client = program.client(seed="7", sample_data=True)
    server = program.server(client.evaluation_keys)
    drawn = [{name: rng.integers(-20, 20, 256) for name in ("x", "y")} for _ in range(5)]
    sent = [client.encrypt(**one) for one in drawn]
    single = [server.evaluate(one) for one in sent]
    alone = device.take_usage()["submissions"]
    told: list[tuple[int, int]] = []
    many = list(server.evaluate_many(sent, progress=lambda done, total: told.append((done, total))))
    usage = device.take_usage()
    assert [one.ciphertexts for one in many] == [one.ciphertexts for one in single]
    assert (client.decrypt(many[3]) == drawn[3]["x"] * drawn[3]["y"]).all()
    assert told == [(done, 5) for done in range(1, 6)]
    assert usage["submissions"] < alone
    with pytest.raises(InputError, match="3 sets of ciphertexts and 1 seeds; each set takes one"):
        server._session.run_many([one.ciphertexts for one in sent[:3]], [], [SEED])


def run_on(kind: str, operations: list[str] | None = None) -> tuple[str, Mapping[str, Any]]:
    """Run a product over a ring that fits `tiny`; the result's digest, and what ran where."""
    primes = tuple(_native.ntt_primes(256, 31, 4, exclude=[]))
    params = ParamRequest(scheme="bfv", n=256, moduli=primes[:3], special=primes[3:], plain_modulus=7681)
    compiled = products.options(params=params, allow_insecure=True)
    if kind == "cpu":
        return rs.run(compiled, seed="7").digest, {}
    overrides = {} if operations is None else {"operations": operations}
    engine = DeviceEngine(open_device(kind, "tiny", overrides), EngineOptions())
    report = rs.run(compiled, seed="7", engine=engine)
    assert report.correct
    facts = dict(report.engine_facts)
    # The result is brought to fewer primes, by division: the host's work wherever the rest is done, as are sums.
    facts["on_host"] = {name: count for name, count in facts["on_host"].items() if name in OPERATIONS}
    return report.digest, facts


@pytest.mark.parametrize("kind", KINDS)
def test_client_and_program_give_the_same_bytes_on_a_device(kind: str) -> None:
    digest, facts = run_on(kind)
    assert digest == run_on("cpu")[0]
    assert facts["offloaded"] == {"zero-encrypt": 2, "tensor": 1, "key-switch": 1, "delta-m-decrypt": 1}
    assert facts["on_host"] == {}


@pytest.mark.parametrize("kind", KINDS)
def test_a_device_takes_only_what_its_preset_names(kind: str) -> None:
    digest, facts = run_on(kind, ["zero-encrypt"])
    assert digest == run_on("cpu")[0]
    assert facts["offloaded"] == {"zero-encrypt": 2}
    assert facts["on_host"] == {"tensor": 1, "key-switch": 1, "delta-m-decrypt": 1}


@rs.kernel(
    scheme="bfv", x=rs.Encrypted(8, bound=20), y=rs.Encrypted(8, bound=20), params="bfv-client", allow_insecure=True
)  # fmt: skip
def total(x: Any, y: Any) -> Any:
    """Sum of two encrypted vectors."""
    return x + y


def test_a_run_reports_send_compute_receive_and_host(tmp_path: Path) -> None:
    trace = tmp_path / "run.pftrace"
    inputs = {"x": np.arange(8), "y": np.arange(8) * 2}
    engine = open_engine("model:bfv-client", EngineOptions(trace=str(trace)))
    ours = json.loads(json.dumps(rs.run(total, inputs, seed="7", engine=engine).json()))
    theirs = rs.run(total, inputs, seed="7").json()
    assert ours["correct"]
    assert ours["output_sha256"] == theirs["output_sha256"]
    assert ours["offloaded"] == {"zero-encrypt": 2, "delta-m-decrypt": 1}
    # Each within 20 cycles of the operation that `ringsmith simulate` measures.
    assert ours["compute"]["cycles"] == 2 * 40_992 + 26_656
    assert ours["compute"]["ms"] == pytest.approx(ours["compute"]["cycles"] / 157e3)
    assert min(ours[part]["ms"] for part in ("send", "receive", "host")) > 0
    assert trace.stat().st_size > 100


@pytest.mark.hw
def test_a_whole_program_runs_on_the_rtl() -> None:
    """CKKS over a ring that fits `tiny`, on the model and on the RTL: the same bytes, the same transfers."""
    primes = tuple(_native.ntt_primes(256, 30, 4, exclude=[]))
    params = ParamRequest(scheme="ckks", n=256, moduli=primes[:3], special=primes[3:], log2_scale=28.0)
    compiled = score.options(params=params, allow_insecure=True, tolerance=1.0)
    reports = {engine: rs.run(compiled, seed="7", engine=engine).json() for engine in ("cpu", "model:tiny", "rtl:tiny")}
    digests = {report["output_sha256"] for report in reports.values()}
    assert len(digests) == 1
    model, rtl = reports["model:tiny"], reports["rtl:tiny"]
    assert model["offloaded"] == rtl["offloaded"]
    assert [model[part]["bytes"] for part in ("send", "receive")] == [
        rtl[part]["bytes"] for part in ("send", "receive")
    ]


@pytest.mark.hw
@pytest.mark.slow
@pytest.mark.parametrize("preset", ["bfv-client", "cofhee"])
def test_runs_on_the_rtl_of_both_chips_give_the_same_bytes(preset: str) -> None:
    inputs = {"x": np.arange(8), "y": np.arange(8) * 2}
    ours = rs.run(total, inputs, seed="7", engine=f"rtl:{preset}").json()
    assert ours["correct"]
    assert ours["output_sha256"] == rs.run(total, inputs, seed="7").json()["output_sha256"]


def test_unusable_engines_are_refused() -> None:
    with pytest.raises(InputError, match="needs a preset: model:bfv-client"):
        open_engine("model")
    with pytest.raises(ParameterError, match="no preset 'nothing'"):
        open_engine("rtl:nothing")
    with pytest.raises(ParameterError, match="butterflies must be"):
        open_engine("model:tiny", EngineOptions(overrides=["butterflies=5"]))
    with pytest.raises(InputError, match="--device-only is for a co-processor"):
        open_engine("cpu", EngineOptions(device_only=True))


def test_a_device_alone_says_what_it_lacks() -> None:
    """Its preset has no unit for digits and divisions; the same run with the host is right."""
    inputs = {"x": np.arange(8), "y": np.arange(8) * 2, "w": np.ones(8, dtype=int)}
    for alone in (False, True):
        engine = open_engine("model:cofhee", EngineOptions(device_only=alone))
        if not alone:
            assert rs.run(inner, inputs, engine=engine).json()["correct"]
            continue
        with pytest.raises(DeviceError, match=r"the host is to do nothing.* automorphisms \(the build has no"):
            rs.run(inner, inputs, engine=engine)


@rs.kernel(
    scheme="bfv", x=rs.Encrypted(8, bound=20), y=rs.Encrypted(8, bound=20), w=rs.Plain(8, bound=5), params="bfv-client",
    allow_insecure=True,
)  # fmt: skip
def inner(x: Any, y: Any, w: Any) -> Any:
    """A product of ciphertexts, a plain product, rotations."""
    return (x * y).sum() + (x * w).sum()


@rs.kernel(x=rs.Encrypted(8, bound=1.0), w=rs.Plain(8, bound=1.0), params="seal-ckks-8192", tolerance=1e-2)
def score(x: Any, w: Any) -> Any:
    """A square of a plain product's sum."""
    return (x @ w) ** 2


@pytest.mark.parametrize("preset", ["cofhee", "bfv-client"])
@pytest.mark.parametrize("kernel", [inner, score])
def test_whole_programs_give_the_same_bytes_on_a_device(kernel: Any, preset: str) -> None:
    ours = rs.run(kernel, seed="7", engine=f"model:{preset}").json()
    theirs = rs.run(kernel, seed="7").json()
    assert ours["correct"]
    assert ours["output_sha256"] == theirs["output_sha256"]
    assert 0 <= ours["hidden"]["share"] <= 1
    if preset == "cofhee":
        assert {"key-switch", "tensor"} <= set(ours["offloaded"])
        assert ours["hidden"]["cycles"] > 0


@rs.kernel(x=rs.Encrypted(8, bound=1.0), tolerance=1e-8)
def polynomial(x: Any) -> Any:
    """Two products, one after another."""
    return (x * x + x) * x


def test_a_run_counts_what_device_only_lists() -> None:
    """What the host does is in `on_host`, with the counts and reasons of the refusal."""
    overrides = ("n_max=8192", "word_bits=48", "modulus_bits_min=40", "moves=0")
    device = open_engine("model:coxhe-zcu102-p8", EngineOptions(overrides))
    facts = rs.run(polynomial, seed="7", engine=device).json()
    with pytest.raises(DeviceError, match="the host is to do nothing") as refused:
        rs.run(polynomial, seed="7", engine=open_engine("model:coxhe-zcu102-p8", EngineOptions(overrides, None, True)))
    work = facts["host_work"]
    listed = [f"{one['count']} {one['kind']} ({one['because']})" for one in work if "cross" not in one["because"]]
    told = str(refused.value).partition("not the device's: ")[2].splitlines()[0]
    assert all(line in told for line in listed)
    assert len("; ".join(listed)) == len(told), "nothing else is lacking"
    kinds = {one["kind"] for one in work}
    assert kinds <= facts["on_host"].keys() == facts["on_host_because"].keys()
    for kind in kinds:
        assert facts["on_host"][kind] <= sum(one["count"] for one in work if one["kind"] == kind)


def weighted(x: Any, w: Any) -> Any:
    """A sum of squares and of plain products."""
    return (x * x + x * w).sum()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scheme", ["bfv", "ckks"])
def test_a_server_writes_its_keys_to_a_device_once(scheme: str, kind: str) -> None:
    primes = tuple(_native.ntt_primes(256, 30, 4, exclude=[]))
    own: dict[str, Any] = {"plain_modulus": 7681} if scheme == "bfv" else {"log2_scale": 28.0}
    params = ParamRequest(scheme=scheme, n=256, moduli=primes[:3], special=primes[3:], **own)
    tolerance = None if scheme == "bfv" else 1.0
    of = rs.kernel(
        scheme=scheme, params=params, allow_insecure=True, tolerance=tolerance, x=rs.Encrypted(8, bound=1),
        w=rs.Plain(8, bound=1),
    )  # fmt: skip
    program, opened = of(weighted).compile(), open_device(kind, "tiny")
    device, client = opened.native, program.client(seed="7", sample_data=True)
    sent, w = client.encrypt(x=np.ones(8, int)), np.ones(8, int)
    expected = program.server(client.evaluation_keys).evaluate(sent, w=w).ciphertexts
    server = program.server(client.evaluation_keys, on=DeviceEngine(opened, EngineOptions()))

    def written(server: Server) -> int:
        assert server.evaluate(sent, w=w).ciphertexts == expected
        return int(device.take_usage()["written_bytes"])

    first, second, third = written(server), written(server), written(server)
    assert 0 < second == third < first
    device.reset()
    assert second < written(server) <= first
    assert written(server) == second
    held = device.memory_in_use()
    del server
    assert device.memory_in_use() < held
