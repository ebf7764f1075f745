# SPDX-License-Identifier: Apache-2.0
"""Kernels encrypted end to end on the CPU engine."""

from __future__ import annotations

import pickle
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import ringsmith as rs
from ringsmith.compiler.lowering.test_lowering import random_kernel
from ringsmith.compiler.params import noise
from ringsmith.runtime.box import box
from ringsmith.runtime.identity import Role
from ringsmith.runtime.runner import sample_inputs


def small(**options: Any) -> rs.Kernel:
    """A kernel of one product, one rotation sum and a plain argument."""

    def function(x: Any, w: Any) -> Any:
        return rs.sum(x * x * w) + x

    defaults: dict[str, Any] = {"tolerance": 1e-4, "name": "small"} | options
    bound = 8 if options.get("scheme") == "bfv" else 1.0
    return rs.kernel(x=rs.Encrypted(8, bound=bound), w=rs.Plain(8, bound=bound), **defaults)(function)


def data(scheme: str = "ckks") -> dict[str, Any]:
    rng = np.random.default_rng(3)
    if scheme == "bfv":
        return {"x": rng.integers(-8, 9, 8), "w": rng.integers(-8, 9, 8)}
    return {"x": rng.uniform(-1, 1, 8), "w": rng.uniform(-1, 1, 8)}


@pytest.mark.parametrize("scheme", ["ckks", "bfv"])
def test_call_agrees_with_clear(scheme: str) -> None:
    kernel, values = small(scheme=scheme), data(scheme)
    found = kernel(**values)
    np.testing.assert_allclose(found, kernel.clear(**values), atol=1e-4 if scheme == "ckks" else 0)


@pytest.mark.parametrize("scheme", ["ckks", "bfv"])
def test_client_and_server_by_pickles(scheme: str) -> None:
    kernel, values = small(scheme=scheme), data(scheme)
    program = pickle.loads(pickle.dumps(kernel.compile()))
    client = pickle.loads(pickle.dumps(program.client()))
    server = pickle.loads(pickle.dumps(program.server(pickle.loads(pickle.dumps(client.evaluation_keys)))))
    sent = pickle.loads(pickle.dumps(client.encrypt(x=values["x"])))
    answer = pickle.loads(pickle.dumps(server.evaluate(sent, w=values["w"])))
    np.testing.assert_allclose(client.decrypt(answer), kernel.clear(**values), atol=1e-4)


@pytest.mark.parametrize("scheme", ["ckks", "bfv"])
def test_others_encrypt_under_the_public_key(scheme: str) -> None:
    kernel, values = small(scheme=scheme, encryption="public"), data(scheme)
    program = kernel.compile()
    client = program.client()
    encryptor = program.encryptor(pickle.loads(pickle.dumps(client.public_key)))
    answer = program.server(client.evaluation_keys).evaluate(encryptor.encrypt(x=values["x"]), w=values["w"])
    np.testing.assert_allclose(client.decrypt(answer), kernel.clear(**values), atol=1e-4)
    with pytest.raises(rs.KeyMismatchError):
        program.client().decrypt(answer)
    secret = small(scheme=scheme, encryption="secret").compile()
    with pytest.raises(rs.InputError, match='encryption="public"'):
        secret.encryptor(secret.client().public_key)


@pytest.mark.parametrize("scheme", ["ckks", "bfv"])
def test_seed_reproduces_every_byte(scheme: str) -> None:
    kernel, values = small(scheme=scheme), data(scheme)
    first, again, other = (rs.run(kernel, values, seed=seed) for seed in ("a", "a", "b"))
    assert first.peak_memory > 1 << 20
    assert first.correct
    assert first.digest == again.digest != other.digest
    program = kernel.compile()
    # The engine and the compiler count alike.
    assert first.operations == program.circuit.counts()
    keys = [program.client(seed).evaluation_keys for seed in ("a", "a", None)]
    assert keys[0] == keys[1] != keys[2]


def test_threads_do_not_change_the_bytes() -> None:
    kernel = random_kernel(4, "ckks", max_depth=3)
    arrays = sample_inputs(kernel, "1", {})
    program = kernel.compile(**{name: array.shape for name, array in arrays.items()})
    client = program.client("threads", sample_data=True)
    encrypted = program.signature.names(encrypted=True)
    sent = client.encrypt(**{name: arrays[name] for name in encrypted})
    plain = {name: array for name, array in arrays.items() if name not in encrypted}
    digests = {
        program.server(client.evaluation_keys, threads=count).run(sent, plain, "threads").result.digest()
        for count in (1, 2, 5)
    }
    assert len(digests) == 1


def test_sample_data_follow_the_seed() -> None:
    assert np.array_equal(rs.run(small(), seed="1").output, rs.run(small(), seed="1").output)
    assert not np.array_equal(rs.run(small(), seed="1").output, rs.run(small(), seed="2").output)


@pytest.mark.parametrize("scheme", ["ckks", "bfv"])
@pytest.mark.parametrize("seed", [1, 4, 8, 24])
def test_random_programs_of_20_operations(seed: int, scheme: str) -> None:
    kernel = random_kernel(seed, scheme, max_depth=3)
    report = rs.run(kernel, seed=str(seed))
    assert report.correct, report.max_abs_error
    if scheme == "ckks":
        assert report.max_abs_error <= report.guarantee <= kernel.tolerance


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["ckks", "bfv"])
@pytest.mark.parametrize("seed", range(25))
def test_more_random_programs(seed: int, scheme: str) -> None:
    assert rs.run(random_kernel(seed, scheme), seed=str(seed)).correct


def test_a_special_prime_too_short_to_exist_is_passed_over() -> None:
    # n = 4096 would leave it 15 bits, and no prime of 15 bits is 1 modulo 8192.
    assert random_kernel(13, "ckks").compile().params.n > 4096


@rs.kernel(x=rs.Encrypted(4, bound=1.0), tolerance=1e-3)
def negated(x: Any) -> Any:
    """The negative."""
    return -x


def test_kernels_pickle_by_name() -> None:
    assert pickle.loads(pickle.dumps(negated)) is negated
    assert negated.__doc__ == "The negative."


def test_vectors_longer_than_the_slots() -> None:
    kernel = rs.kernel(x=rs.Encrypted(5000, bound=1), tolerance=1e-2)(lambda x: rs.sum(x) + 2 * x[4990:])
    report = rs.run(kernel, seed="long")
    assert report.correct
    assert report.ciphertexts["in"] == -(-5000 // report.params.slots)
    assert report.ciphertexts["in"] > 1


@pytest.mark.parametrize(
    ("bound", "tolerance", "function"),
    [
        (1.0, 1e-3, lambda x: x * 0),
        (1e-6, 1e-9, lambda x: x * 3),
        (0.0, 1e-3, lambda x: x * x),
        (1e3, 1e-1, lambda x: x * x - 2 * x),
        (1.0, 1e-3, lambda x: 0 - x),
    ],
)
def test_small_large_and_zero_values(bound: float, tolerance: float, function: Any) -> None:
    report = rs.run(rs.kernel(x=rs.Encrypted(8, bound=bound), tolerance=tolerance)(function), seed="z")
    assert report.correct


def test_parameters_with_a_default_need_no_declaration() -> None:
    def scaled(x: Any, factor: float = 0.5) -> Any:
        return x * factor

    kernel = rs.kernel(x=rs.Encrypted(4, bound=1.0), tolerance=1e-3)(scaled)
    np.testing.assert_allclose(kernel(np.ones(4)), 0.5, atol=1e-3)


def test_scalars() -> None:
    assert rs.kernel(x=rs.Encrypted(bound=2.0), tolerance=1e-3)(lambda x: x * x)(1.5) == pytest.approx(2.25, abs=1e-3)


def test_bfv_wraps_modulo_a_given_plain_modulus() -> None:
    kernel = rs.kernel(scheme="bfv", plain_modulus=65537, x=rs.Encrypted(4, bound=300))(lambda x: x * x)
    values = np.array([300, -299, 2, 256])
    assert np.array_equal(kernel(values), kernel.clear(values))
    assert kernel.clear(values)[0] == 90000 - 65537


def test_published_decryptions_keep_the_tolerance() -> None:
    kernel = rs.kernel(x=rs.Encrypted(8, bound=1.0), tolerance=1e-3, publish=True)(lambda x: x * x)
    values = data()["x"]
    program = kernel.compile()
    client = program.client()
    answer = program.server(client.evaluation_keys).evaluate(client.encrypt(x=values))
    private, public = client.decrypt(answer), client.decrypt(answer, publish=True)
    assert 0 < np.abs(private - public).max() <= kernel.tolerance
    assert np.abs(public - values**2).max() <= kernel.tolerance


@pytest.mark.parametrize("params", [None, rs.ParamRequest(n=4096, data_bits=(36, 36), special_bits=(34,))])
def test_a_published_bfv_result_is_right_and_leaves_room_for_the_flooding(params: rs.ParamRequest | None) -> None:
    kernel = rs.kernel(scheme="bfv", x=rs.Encrypted(8, bound=20), publish=True, params=params)(lambda x: 3 * x + 1)
    values = np.arange(-4, 4)
    program = kernel.compile()
    assert program.noise_bits >= noise.publication_budget(program.params.n) > 25
    client = program.client("p", sample_data=True, allow_seeded_publish=True)
    answer = program.server(client.evaluation_keys).evaluate(client.encrypt(x=values))
    assert np.array_equal(client.decrypt(answer, publish=True), 3 * values + 1)


def test_bfv_publication_is_refused_where_it_has_no_room() -> None:
    def kernel(**options: Any) -> rs.Kernel:
        return rs.kernel(scheme="bfv", x=rs.Encrypted(8, bound=20), **options)(lambda x: x * x)

    program = kernel().compile()
    client = program.client("p", sample_data=True, allow_seeded_publish=True)
    answer = program.server(client.evaluation_keys).evaluate(client.encrypt(x=np.arange(8)))
    with pytest.raises(rs.InputError, match="publish=True"):
        client.decrypt(answer, publish=True)
    small = rs.ParamRequest(n=2048, data_bits=(27, 26))
    with pytest.raises(rs.KernelError, match=r"publish=True: .* bits of noise budget"):
        rs.kernel(scheme="bfv", x=rs.Encrypted(8, bound=20), params=small, publish=True)(lambda x: x + 1).compile()


def test_manual_mode_runs_exactly_what_is_written() -> None:
    @rs.kernel(
        mode="manual",
        params="seal-ckks-8192",
        a=rs.Encrypted(3, 2, bound=1.0, packing="each"),
        b=rs.Plain(2, bound=1.0, packing="each"),
        output=rs.Output(3, packing="each"),
        tolerance=1e-3,
    )
    def dot(a: Any, b: Any) -> Any:
        sums = [a[i, 0] * b[0] + a[i, 1] * b[1] for i in range(3)]
        squares = [rs.rescale(rs.relinearize(rs.square(rs.rescale(total)))) for total in sums]
        return [rs.rotate(rs.rotate(square, 1), -1) + rs.encrypt_zero(square) for square in squares]

    report = rs.run(dot, seed="m")
    assert report.correct
    assert report.operations == {
        "add": 6,
        "multiply_plain": 6,
        "square": 3,
        "rotate": 6,
        "relinearize": 3,
        "rescale": 6,
        "encrypt_zero": 3,
        "key_switch": 9,
    }


def test_manual_mode_chooses_parameters_when_none_are_given() -> None:
    @rs.kernel(mode="manual", x=rs.Encrypted(4, bound=1.0), output=rs.Output(4), tolerance=1e-3)
    def cube(x: Any) -> Any:
        square = rs.rescale(rs.relinearize(x * x))
        return rs.rescale(rs.relinearize(square * rs.mod_drop(x)))

    assert rs.run(cube, seed="c").correct


def test_security_and_standard_change_the_choice() -> None:
    sizes = {s: small(security=s).compile().params for s in (128, 192, 256)}
    assert sizes[128].n < sizes[256].n
    for wanted, params in sizes.items():
        assert params.security.bits >= wanted
        assert params.log2_qp <= (params.security.limit or 0)
    old = small(standard="2018").compile().params
    assert "2018" in old.security.source


def test_programs_without_key_switches_need_no_special_prime() -> None:
    program = rs.kernel(x=rs.Encrypted(8, bound=1.0), tolerance=1e-3)(lambda x: 3 * x + 1).compile()
    assert program.params.special == ()
    assert program.client().evaluation_keys.nbytes == 0


def test_a_shorter_special_prime_can_save_a_degree() -> None:
    kernel = rs.kernel(x=rs.Encrypted(8, bound=1.0), tolerance=1e-6)(lambda x: x * x)
    report = rs.run(kernel, seed="s")
    params = report.params
    assert report.correct
    assert max(params.special) < max(params.moduli)
    assert params.log2_qp <= (params.security.limit or 0) < params.log2_q + np.log2(max(params.moduli))


def test_box_shows_split_source_and_alternatives() -> None:
    program = small().compile()
    text = program.box()
    assert program.params.split in text
    for expected in ("ePrint 2024/463", "alternatives", "SEAL", "OpenFHE", "larger degree"):
        assert expected in text


def test_error_bound_holds_and_is_within_12_bits_on_a_product() -> None:
    kernel = rs.kernel(x=rs.Encrypted(1024, bound=1.0), tolerance=1e-5)(lambda x: x * x)
    report = rs.run(kernel, {"x": np.ones(1024)}, seed="n")
    assert report.max_abs_error <= report.guarantee
    assert np.log2(report.guarantee / report.max_abs_error) < 12


def test_insecure_sets_need_the_opt_in_which_is_shown() -> None:
    kernel = rs.kernel(scheme="bfv", params="bfv-client", x=rs.Encrypted(8, bound=9))(lambda x: x * x)
    with pytest.raises(rs.ParameterError, match="allow_insecure"):
        kernel.compile()
    program = kernel.options(allow_insecure=True).compile()
    assert "INSECURE, allowed by opt-in" in program.box()


def test_a_set_that_cannot_relinearize_still_carries_a_product() -> None:
    kernel = rs.kernel(scheme="bfv", params="cofhee-4096", allow_insecure=True, x=rs.Encrypted(8, bound=9))(
        lambda x: x * x
    )
    report = rs.run(kernel, seed="c")
    assert report.correct
    assert report.operations == {"square": 1, "key_switch": 0}


def test_replaced_keys_are_refused() -> None:
    program = small().compile()
    client = program.client("a")
    keys = client.evaluation_keys
    with pytest.raises(rs.KeyMismatchError, match="lack rotation"):
        program.server(replace(keys, rotations=keys.rotations[1:]))
    with pytest.raises(rs.KeyMismatchError, match="another program"):
        program.server(replace(keys, label=small(tolerance=1e-5).compile().label(Role.EVALUATION_KEYS, keys.label.key)))


def test_a_report_is_a_table_in_a_notebook_and_its_box_has_no_word_twice() -> None:
    @rs.kernel(x=rs.Encrypted(8, bound=1.0), tolerance=1e-3, name="<b>")
    def squares(x: rs.Tensor) -> rs.Tensor:
        return x * x

    report = rs.run(squares, {"x": np.linspace(-1, 1, 8)})
    html = report._repr_html_()
    assert html.startswith("<table>")
    assert html.endswith("</table>")
    assert "<td>correct, largest error" in html
    assert "<b>" not in html
    drawn = box(report.program)
    assert "chosen for this kernel" not in drawn
    assert re.search(r"chosen +for this kernel", drawn)
    assert "fails with a probability below 2^-" in drawn
