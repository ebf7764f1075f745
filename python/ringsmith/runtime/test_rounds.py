# SPDX-License-Identifier: Apache-2.0
"""Client-aided programs: several rounds give what the function gives in the clear, and what is wrong is named."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import ringsmith as rs
from ringsmith.compiler.rounds import ClientAidedError
from ringsmith.errors import FormatError, InputError, KernelError, KeyMismatchError, ParameterError
from ringsmith.runtime import rounds_bytes
from ringsmith.runtime.messages import opened

X = np.array([3, -7, 10, 0, -1, 9, -10, 5])
W = np.arange(64).reshape(8, 8) % 19 - 9


def relu(values: Any) -> Any:
    """A comparison, which no ring has."""
    return np.maximum(values, 0)


@rs.kernel(scheme="bfv", x=rs.Encrypted(8, bound=10), w=rs.Plain(8, 8, bound=10))
def network(x: Any, w: Any) -> Any:
    """Two layers; what earlier rounds made is used again after both refreshes."""
    first = w @ x
    hidden = rs.refresh(first, relu, bound=800)
    scaled = rs.refresh(hidden * hidden - 5, lambda values: values // 100, bound=6400)
    return scaled + x + hidden + first


@rs.kernel(x=rs.Encrypted(8, bound=1.0), w=rs.Plain(8, 8, bound=1.0), tolerance=1e-4)
def real_network(x: Any, w: Any) -> Any:
    """The same on reals."""
    return w @ rs.refresh(w @ x, relu, bound=8.0)


@rs.kernel(scheme="bfv", x=rs.Encrypted(8, bound=10), w=rs.Plain(8, 8, bound=10))
def largest(x: Any, w: Any) -> Any:
    """The client has the last word: a number of no axes."""
    return rs.refresh(w @ x, np.argmax, low=0, high=7)


@rs.kernel(scheme="bfv", x=rs.Encrypted(4, bound=3))
def squarings(x: Any) -> Any:
    """Three rounds that do the same."""
    for _ in range(3):
        x = rs.refresh(x * x, lambda values: values % 4, low=0, high=3)
    return x * x


def test_rounds_give_what_the_function_gives_in_the_clear() -> None:
    np.testing.assert_array_equal(network(X, W), network.clear(X, W))
    first = W @ X
    hidden = np.maximum(first, 0)
    np.testing.assert_array_equal(network.clear(X, W), (hidden**2 - 5) // 100 + X + hidden + first)
    x, w = X / 10, W / 10
    np.testing.assert_allclose(real_network(x, w), w @ np.maximum(w @ x, 0), atol=1e-4)
    answer = largest(X, W)
    assert answer.shape == ()
    assert answer == np.argmax(W @ X)


def test_rounds_that_do_the_same_are_one_program_with_one_set_of_keys() -> None:
    rounds = squarings.rounds()
    assert len(rounds.programs) == 4
    # The first takes a larger range than the others, and the last has the same as those.
    assert len(rounds.distinct) == 2
    assert len(rounds.client().evaluation_keys) == 2
    np.testing.assert_array_equal(squarings(np.array([3, 2, 1, -3])), [1, 0, 1, 1])


def test_client_and_server_by_hand_share_bytes_only() -> None:
    rounds = network.rounds()
    client = rounds.client()
    # Keys may come in any order: each says which program it is of.
    keys = [rs.Keys.from_bytes(one.to_bytes()) for one in reversed(client.evaluation_keys)]
    server = rounds.server(keys)
    asked = []

    def evaluate(sent: rs.Encryptions) -> rs.Encryptions:
        asked.append(sent.label.program.digest)
        return rs.Encryptions.from_bytes(server.evaluate(rs.Encryptions.from_bytes(sent.to_bytes()), w=W).to_bytes())

    np.testing.assert_array_equal(rs.converse(client.conversation({"x": X}), evaluate), network.clear(X, W))
    assert asked == [program.identity.digest for program in rounds.programs]
    assert len({one.secret_key for one in client.clients.values()}) == 1
    with pytest.raises(KeyMismatchError):
        server.evaluate(next(rounds.client().conversation({"x": X})), w=W)
    with pytest.raises(InputError, match="none of these rounds"):
        server.evaluate(next(largest.rounds().client().conversation({"x": X})), w=W)
    with pytest.raises(InputError, match="sets of keys"):
        rounds.server(keys[:1])


def test_functions_are_those_of_the_call() -> None:
    offset = [1]

    @rs.kernel(scheme="bfv", x=rs.Encrypted(4, bound=10))
    def shifted(x: Any) -> Any:
        return rs.refresh(2 * x, partial(np.add, offset[0]), bound=100) * 3

    x = np.arange(4)
    np.testing.assert_array_equal(shifted(x), (2 * x + 1) * 3)
    offset[0] = 5
    np.testing.assert_array_equal(shifted(x), (2 * x + 5) * 3)
    assert shifted.rounds().programs[0] is shifted.rounds().programs[0]


@pytest.mark.parametrize("engine", ["cpu", "model:bfv-client"])
def test_a_report_tells_rounds_bytes_and_times(engine: str) -> None:
    kernel = network.options(params="bfv-client", standard="2018", plain_modulus=None)
    report = rs.run(kernel, {"x": X, "w": W}, seed=None, engine=engine)
    assert report.correct
    told = report.json()["rounds"]
    assert [(one["sent"], one["received"]) for one in told] == [(1, 1), (1, 1), (4, 1)]
    assert sum(one["sent_bytes"] for one in told) == report.bytes["ciphertexts_in"]
    assert all(one["client_ms"] > 0 and one["server_ms"] > 0 for one in told)
    parts = sum(report.time_ms[part] for part in ("client", "wire", "server"))
    assert parts <= report.time_ms["rounds"] * 1.001
    if engine != "cpu":
        assert report.engine_facts["offloaded"]["zero-encrypt"] == 6
        assert report.engine_facts["offloaded"]["delta-m-decrypt"] == 3


def test_every_engine_of_the_client_makes_the_same_bytes() -> None:
    rounds = largest.options(params="bfv-client", standard="2018").rounds()
    sent = [
        next(rounds.client("s", on=engine, sample_data=True).conversation({"x": X})).digest()
        for engine in ("cpu", "model:bfv-client")
    ]
    assert sent[0] == sent[1]


def test_a_file_has_programs_and_names_of_functions(tmp_path: Path) -> None:
    rounds = network.rounds()
    rounds.save(tmp_path / "network.rsr")
    assert b"maximum" not in (tmp_path / "network.rsr").read_bytes()
    read = rs.load(tmp_path / "network.rsr")
    assert isinstance(read, rs.Rounds)
    assert read.to_bytes() == rounds.to_bytes()
    with pytest.raises(InputError, match="function relu is not in the file"):
        read.run({"x": X}, {"w": W})
    with pytest.raises(InputError, match="network applies no function sigmoid; it has function, relu"):
        read.with_functions(sigmoid=relu)
    whole = read.with_functions(relu=relu, function=lambda values: values // 100)
    np.testing.assert_array_equal(whole.run({"x": X}, {"w": W}), network.clear(X, W))
    with pytest.raises(ParameterError, match="256"):
        rs.load(tmp_path / "network.rsr", security=256)


def _refreshed(facts: Any, **changed: Any) -> None:
    facts["rounds"][0]["applied"][0].update(changed)


CHANGES: list[tuple[str, Callable[[Any], Any]]] = [
    ("programs", lambda facts: facts["rounds"].pop()),
    ("a value that is not there yet", lambda facts: facts["rounds"][1]["inputs"].update(value0=7)),
    ("a value that is not there yet", lambda facts: facts.update(result=True)),
    ("an argument that the kernel does not have", lambda facts: facts["rounds"][0]["inputs"].update(x="w")),
    ("inputs that network does not take", lambda facts: facts["rounds"][0]["inputs"].update(y="x")),
    ("an input x of shape", lambda facts: facts["arguments"]["x"].__setitem__(0, [2, 4])),
    ("a plain argument w", lambda facts: facts["arguments"].pop("w")),
    ("values that its program does not give", lambda facts: facts["rounds"][0].update(values=[[9]])),
    ("an invalid shape", lambda facts: facts["rounds"][0].update(values=[[-8]])),
    ("several parameter sets", lambda facts: facts.update(scheme="ckks")),
    ("an invalid number", lambda facts: facts.update(tolerance="1")),
    ("an invalid number", lambda facts: facts.update(tolerance=10**400)),
    *(("an invalid integer", partial(_refreshed, high=wrong)) for wrong in (True, 1.7, "12")),
    ("no description", lambda facts: facts.pop("name")),
    ("no description", lambda facts: facts["rounds"][0]["applied"].append(3)),
]


@pytest.mark.parametrize(("words", "change"), CHANGES)
def test_a_strangers_rounds_are_checked(words: str, change: Callable[[Any], Any]) -> None:
    _, parts = opened(network.rounds().to_bytes())
    facts = json.loads(parts[0])
    change(facts)
    with pytest.raises(FormatError, match=words):
        rounds_bytes.decoded([json.dumps(facts).encode(), *parts[1:]], {})


@pytest.mark.parametrize("text", [b"", b"\xff", b"[" * 100_000, b"null", b"{}", b"[1]"])
def test_what_is_no_description_is_refused(text: bytes) -> None:
    with pytest.raises(FormatError, match="no description"):
        rounds_bytes.decoded([text], {})
    with pytest.raises(FormatError, match="no rounds"):
        rounds_bytes.decoded([], {})


def made(body: Callable[[Any], Any], **options: Any) -> rs.Kernel:
    """A kernel of one argument of four integers."""

    def function(x: Any) -> Any:
        return body(x)

    return rs.kernel(scheme="bfv", x=rs.Encrypted(4, bound=5), **options)(function)


@pytest.mark.parametrize(
    ("words", "body"),
    [
        ("declare the range", lambda x: rs.refresh(x + 1, relu)),
        (r"fails on values from the range.*division.*shape=\(", lambda x: rs.refresh(x + 1, lambda v: 1 // 0, bound=1)),
        ("is no function", lambda x: rs.refresh(x + 1, cast(Any, 3), bound=1)),
        ("not an integer", lambda x: rs.refresh(x + 1, lambda v: v + 0.5, bound=9)),
        ("packing 'diagonal'", lambda x: rs.refresh(x + 1, packing="diagonal")),
        ("both", lambda x: rs.refresh(x + 1, bound=1, low=0)),
    ],
)
def test_a_wrong_refresh_is_shown_with_its_line(words: str, body: Callable[[Any], Any]) -> None:
    with pytest.raises(KernelError, match=words) as raised:
        made(body).rounds()
    assert "test_rounds.py" in str(raised.value)


def normalised(v: Any) -> Any:
    return v / np.sqrt(np.sum(v * v))


@pytest.mark.parametrize(
    "function", [lambda v: 1 / v, np.log, normalised, lambda v: np.array([1.0 / one for one in v.tolist()])]
)
def test_no_function_is_called_on_zeros(function: Any) -> None:
    seen: list[Any] = []

    def noted(v: Any) -> Any:
        seen.append(v)
        return function(v)

    @rs.kernel(x=rs.Encrypted(4, bound=4.0), tolerance=1e-3)
    def kernel(x: Any) -> Any:
        return rs.refresh(x * x, noted, bound=3) + 1

    x = np.array([1, -2, 3, 4])
    np.testing.assert_allclose(kernel(x), function(x * x) + 1, atol=0.01)
    assert all(np.all(v) for v in seen)


def test_with_a_stated_shape_the_function_waits_for_values() -> None:
    def only_of_data(v: Any) -> Any:
        assert v.tolist() == [1, 4, 9, 16]
        return v[:2]

    cut = made(lambda x: rs.refresh(x * x, only_of_data, bound=25, shape=2) * 3)
    assert cut([1, 2, -3, 4]).tolist() == [3, 12]
    with pytest.raises(InputError, match=r"has shape \(2,\), the kernel was traced with \(3,\)"):
        made(lambda x: rs.refresh(x * x, only_of_data, bound=25, shape=3))([1, 2, -3, 4])
    with pytest.raises(KernelError, match="extents are positive integers"):
        made(lambda x: rs.refresh(x * x, only_of_data, bound=25, shape=0)).rounds()


def test_an_argument_goes_to_the_client_too() -> None:
    """It comes back from a round: the key's owner, who applies the function, need not be who encrypted it."""
    cut = made(lambda x: rs.refresh(x, relu, bound=5) * x + x)
    assert len(cut.rounds().programs) == 2
    x = np.array([5, -4, 0, 1])
    np.testing.assert_array_equal(cut(x), np.maximum(x, 0) * x + x)
    np.testing.assert_array_equal(made(lambda x: rs.refresh(x, np.sort, bound=5))(x), np.sort(x))
    np.testing.assert_array_equal(made(lambda x: rs.refresh(rs.refresh(x) * x) * x)(x), x**3)


def test_what_is_one_program_only_says_how_to_go_on() -> None:
    with pytest.raises(ClientAidedError, match=r"kernel\.rounds\(\)"):
        network.compile()
    with pytest.raises(KernelError, match="not flooded"):
        made(lambda x: rs.refresh(x + 1), publish=True).rounds()
    with pytest.raises(KernelError, match="values up to 25 wrap modulo plain_modulus 17"):
        made(lambda x: rs.refresh(x * x), plain_modulus=17).rounds()
    with pytest.raises(KernelError, match="only an encrypted one"):
        rs.kernel(scheme="bfv", x=rs.Encrypted(4, bound=5), w=rs.Plain(4, bound=5))(
            lambda x, w: rs.refresh(w, relu, bound=5) * x
        ).rounds()
    with pytest.raises(KernelError, match="a manual kernel is one program"):
        rs.kernel(x=rs.Encrypted(4, bound=1.0), mode="manual", output=rs.Output(4))(rs.refresh).compile()


def test_the_client_refuses_what_leaves_the_declared_range_or_shape() -> None:
    narrow = made(lambda x: rs.refresh(x * 3, lambda values: values, bound=5) + 1)
    np.testing.assert_array_equal(narrow(np.array([1, 0, -1, 1])), [4, 1, -2, 4])
    for run in (narrow, narrow.clear):
        with pytest.raises(InputError, match=r"\[2\] is outside the declared \[-5, 5\]; widen it") as raised:
            run(np.array([1, 0, 4, 1]))
        assert "12" not in str(raised.value)
    other = made(lambda x: rs.refresh(x * 3, lambda values: values[values >= 0], bound=15))
    with pytest.raises(InputError, match=r"shape \(3,\)"):
        other(np.array([1, 0, -4, 1]))


def test_a_refresh_without_a_function_takes_the_noise_away() -> None:
    """Two products in one program need more modulus than two programs of one product each."""
    deep, cut = made(lambda x: (x * x) * (x * x)), made(lambda x: rs.refresh(x * x) * rs.refresh(x * x))
    assert cut.rounds().deepest.params.log2_q < deep.compile().params.log2_q
    x = np.array([5, -4, 0, 1])
    np.testing.assert_array_equal(cut(x), x**4)


def test_a_kernel_without_refresh_is_one_round() -> None:
    rounds = made(lambda x: x * x + 1).rounds()
    assert len(rounds.programs) == 1
    np.testing.assert_array_equal(rounds.run({"x": np.arange(4)}, {}), np.arange(4) ** 2 + 1)
