# SPDX-License-Identifier: Apache-2.0
"""Programs deeper than their set, refreshed by the evaluator: right on every engine, the same bytes on any number of
threads and in another process, refused where a file promises too much. The rings are small, explicitly insecure."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

import ringsmith as rs
from ringsmith import _native
from ringsmith.compiler.assemble import assemble
from ringsmith.compiler.params import bootstrapping
from ringsmith.errors import InputError, KernelError, KeyMismatchError, ParameterError, RingsmithError
from ringsmith.ir.kinds import Kind
from ringsmith.ir.reading import Reading
from ringsmith.runtime.box import box, refreshes
from ringsmith.runtime.engine import EngineOptions
from ringsmith.runtime.engines import open_engine
from ringsmith.runtime.messages import Keys
from ringsmith.runtime.runner import run_program
from ringsmith.runtime.test_interrupt import interrupted

GIB = 1 << 30
SMALL = rs.Bootstrapping(slots_to_coeffs=2, coeffs_to_slots=2)


def small(log_n: int = 8, free: int = 6, own: rs.Bootstrapping | None = SMALL) -> rs.ParamRequest:
    """Return a set with that many levels between two refreshes."""
    data = (50, 40, 40, *(40,) * free, *(50,) * 10)
    return rs.ParamRequest(
        n=1 << log_n, data_bits=data, special_bits=(50,) * 5, dnum=-(-len(data) // 5), log2_scale=40,
        bootstrapping=own, name="small",
    )  # fmt: skip


@rs.kernel(x=rs.Encrypted(8, bound=1.0), tolerance=1e-4, params=small(), allow_insecure=True)
def deep(x: Any) -> Any:
    """Sixty levels, and no word of how they are had."""
    for _ in range(30):
        x = x * x * 0.5 + 0.25
    return x


@rs.kernel(x=rs.Encrypted(8, bound=1.0), tolerance=1e-4, params=small(), allow_insecure=True)
def repeated(x: Any) -> Any:
    """A step towards a fixed point, a hundred times: a polynomial of degree 2^100."""
    for _ in range(100):
        x = x * x * 0.5 + 0.25
    return x


@rs.kernel(x=rs.Encrypted(8, bound=1.0), tolerance=1e-4, params=small(free=3), allow_insecure=True)
def by_hand(x: Any) -> Any:
    """A product, a refresh, a product."""
    return rs.bootstrap(x * x * 0.5) * x


def refreshing(program: rs.Program) -> _native.Bootstrapping:
    """Return the bootstrapping of a program."""
    own = program.native.bootstrapping
    assert own is not None
    return own


X = np.linspace(-1, 1, 8)
#: What another process does with the files: the bytes of the results on one thread and on two.
ELSEWHERE = """
import hashlib, sys
import ringsmith as rs
from ringsmith.runtime.objects import load
program = load(sys.argv[1] + "/program", allow_insecure=True)
keys, sent = load(sys.argv[1] + "/keys"), load(sys.argv[1] + "/sent")
for threads in (1, 2):
    print(program.server(keys, threads=threads).evaluate(sent).digest())
"""


def test_a_kernel_of_sixty_levels_runs_from_files_in_another_process(tmp_path: Path) -> None:
    program = deep.compile()
    assert program.counts["bootstrap"] == 9
    client = program.client("7")
    keys, sent = client.evaluation_keys, client.encrypt(x=X)
    for name, own in (("program", program), ("keys", keys), ("sent", sent)):
        own.save(tmp_path / name)
    command = [sys.executable, "-c", ELSEWHERE, str(tmp_path)]
    digests = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    result = program.server(keys, threads=1).evaluate(sent)
    assert digests == [result.digest()] * 2
    assert np.abs(client.decrypt(result) - deep.clear(x=X)).max() < 2**program.noise_bits < 1e-4


def test_an_iteration_of_a_hundred_steps_keeps_its_bound() -> None:
    program = repeated.compile()
    client = program.client("7", sample_data=True)
    result = program.server(client.evaluation_keys).evaluate(client.encrypt(x=X))
    assert 0 < np.abs(client.decrypt(result) - repeated.clear(x=X)).max() < 2**program.noise_bits < 1e-4
    assert np.abs(repeated.clear(x=X) - (1 - math.sqrt(0.5))).max() < 1e-12


def test_a_refresh_by_hand_runs_and_says_where_levels_are_missing() -> None:
    assert by_hand.compile().counts["bootstrap"] == 1
    report = rs.run(by_hand, {"x": X}, seed="3")
    assert report.correct
    assert report.max_abs_error < report.guarantee

    @rs.kernel(x=rs.Encrypted(8, bound=1.0), tolerance=1e-4, params=small(free=3), allow_insecure=True)
    def late(x: Any) -> Any:
        for _ in range(8):
            x = x * x
        return rs.bootstrap(x)

    with pytest.raises(KernelError, match="levels more are needed before this refresh"):
        late.compile()


def test_a_kernel_that_fits_is_given_no_refresh() -> None:
    @rs.kernel(x=rs.Encrypted(8, bound=1.0), tolerance=1e-4, params=small(), allow_insecure=True)
    def shallow(x: Any) -> Any:
        return x * x

    program = shallow.compile()
    assert "bootstrap" not in program.counts
    assert program.native.bootstrapping is None


def test_manual_mode_refreshes_where_it_is_told() -> None:
    @rs.kernel(
        mode="manual", scheme="ckks", x=rs.Encrypted(8, bound=1.0), output=rs.Output(8), tolerance=1e-4,
        params=small(free=3), allow_insecure=True,
    )  # fmt: skip
    def manual(x: Any) -> Any:
        y = rs.bootstrap(rs.mod_drop(x, x.level - 2))
        return rs.rescale(rs.relinearize(y * y))

    program = manual.compile()
    client = program.client("3")
    result = program.server(client.evaluation_keys).evaluate(client.encrypt(x=X))
    assert np.abs(client.decrypt(result) - X**2).max() < 1e-4


def test_a_co_processor_leaves_refreshes_to_the_host_and_a_record_writes_what_is_around_them(tmp_path: Path) -> None:
    expected = rs.run(by_hand, {"x": X}, seed="5").digest
    record = open_engine(f"record:{tmp_path / 'trace'}", EngineOptions(extra={"polynomial": True}))
    for engine in (f"record:{tmp_path / 'steps'}", record, "model:heax-b"):
        report = rs.run(by_hand, {"x": X}, seed="5", engine=engine)
        assert report.correct
        assert report.digest == expected
    assert "bootstrap" in (tmp_path / "steps").read_text()


def test_probable_guarantees_count_refreshes_too() -> None:
    certain, probable = (by_hand.options(guarantee=name).compile().noise_bits for name in ("certain", "probable"))
    assert probable <= certain < np.log2(1e-4)


@pytest.mark.parametrize(
    ("own", "told"),
    [
        (replace(SMALL, weight=200), "errs by"),
        (replace(SMALL, degree=31), "even"),
        (replace(SMALL, degree=8), "errs by"),
        (replace(SMALL, log2_failure=-20.0), "log2_failure"),
        (replace(SMALL, arcsine=4), "arcsine"),
        (replace(SMALL, weight=True), "whole number"),
        (replace(SMALL, log2_ratio=float("nan")), "finite number"),
        (replace(SMALL, coeffs_to_slots=0), "levels of coefficients to slots"),
        (replace(SMALL, bound=0.5), "bound of the bootstrapping"),
        (replace(SMALL, passes=3), "number of passes"),
        (replace(SMALL, key_bytes=1000), "bytes or more"),
        (replace(SMALL, key_bytes=-1), "a number of bytes is needed"),
        (None, "no bootstrapping"),
    ],
)
def test_bootstrappings_that_fail_too_often_or_do_not_fit_are_refused(own: rs.Bootstrapping | None, told: str) -> None:
    with pytest.raises(RingsmithError, match=told):
        by_hand.options(params=small(free=3, own=own)).compile()


def test_insecure_sets_need_the_opt_in() -> None:
    with pytest.raises(ParameterError, match="bits of security"):
        by_hand.options(allow_insecure=False).compile()


def test_a_tolerance_that_no_refresh_keeps_is_refused() -> None:
    with pytest.raises(ParameterError, match="the tolerance is"):
        deep.options(tolerance=2.0**-40).compile()


def test_values_without_a_bound_are_refused() -> None:
    @rs.kernel(x=rs.Encrypted(8, bound=2.0), tolerance=1e-4, params=small(), allow_insecure=True)
    def grows(x: Any) -> Any:
        for _ in range(12):
            x = x * x
        return x

    with pytest.raises(RingsmithError):
        grows.compile()


def test_more_levels_than_a_set_has_primes_are_refreshed() -> None:
    @rs.kernel(x=rs.Encrypted(8, low=-1, high=1), tolerance=1e-2)
    def deep(x: Any) -> Any:
        for _ in range(40):
            x = x * x * 0.5 + 0.25
        return x

    program = deep.compile()
    assert program.counts["bootstrap"] > 10
    assert program.params.security.enough


def test_keys_of_another_bootstrapping_or_none_are_refused() -> None:
    program = by_hand.compile()
    other = by_hand.options(params=small(free=3, own=replace(SMALL, slots_to_coeffs=1, coeffs_to_slots=2))).compile()
    keys, foreign = program.client("7").evaluation_keys, other.client("7").evaluation_keys
    assert keys.bootstrapping
    assert Keys.from_bytes(keys.to_bytes()) == keys
    with pytest.raises(KeyMismatchError, match="bootstrapping"):
        program.server(replace(keys, bootstrapping=b""))
    with pytest.raises(RingsmithError, match="this very bootstrapping"):
        program.server(replace(keys, bootstrapping=foreign.bootstrapping))
    with pytest.raises((KeyMismatchError, InputError)):
        program.server(foreign)


def test_keys_of_refreshes_stay_within_the_limit_of_a_kernel() -> None:
    free = by_hand.options(keys_limit=None).compile()
    whole = free.keys.nbytes(free.params)
    few = by_hand.options(keys_limit=whole - 1).compile()
    sent = few.client("7").evaluation_keys
    assert len(sent.bootstrapping) == refreshing(few).key_bytes < refreshing(free).key_bytes
    assert sent.nbytes == pytest.approx(few.keys.nbytes(few.params), rel=0.01)
    assert few.keys.nbytes(few.params) < whole
    report = rs.run(by_hand.options(keys_limit=whole - 1), {"x": X}, seed="3")
    assert report.correct
    assert report.max_abs_error < report.guarantee
    # The file says which keys it takes; those of another limit are other keys.
    again = type(few).from_bytes(few.to_bytes(), allow_insecure=True)
    assert again.params.bootstrapping == few.params.bootstrapping
    again.server(sent)
    with pytest.raises(RingsmithError, match="this very bootstrapping"):
        free.server(replace(free.client("7").evaluation_keys, bootstrapping=sent.bootstrapping))


def test_a_limit_too_small_for_refreshes_is_refused_with_one_that_does() -> None:
    with pytest.raises(ParameterError, match="with fewer keys of refreshes") as refused:
        by_hand.options(keys_limit=1000).compile()
    least = int(re.findall(r"allow keys_limit=(\d+)", str(refused.value))[0])
    program = by_hand.options(keys_limit=least).compile()
    assert program.keys.nbytes(program.params) == least
    with pytest.raises(ParameterError, match=f"allow keys_limit={least} or more"):
        by_hand.options(keys_limit=least - 1).compile()
    # A set with a limit of its own keeps it.
    own = program.params.bootstrapping
    assert own is not None
    pinned = by_hand.options(params=small(free=3, own=replace(SMALL, key_bytes=own.key_bytes)), keys_limit=None)
    assert refreshing(pinned.compile()).key_bytes == refreshing(program).key_bytes


def test_keys_of_refreshes_stay_within_the_memory_of_a_server() -> None:
    program = by_hand.compile()
    client = program.client("7")
    keys, sent = client.evaluation_keys, client.encrypt(x=X)
    least, whole = refreshing(program).key_memory
    expected = program.server(keys).evaluate(sent).digest()
    for limit in (least, (least + whole) // 2, whole):
        assert program.server(keys, key_memory=limit).evaluate(sent).digest() == expected
        loaded = _native.BootstrapKeys.from_bytes(refreshing(program), keys.bootstrapping, limit)
        assert least <= loaded.memory <= limit
        assert loaded.to_bytes() == keys.bootstrapping
    with pytest.raises(RingsmithError, match=f"{least} bytes or more; from {whole} bytes on"):
        program.server(keys, key_memory=least - 1)
    with pytest.raises(InputError, match="key_memory"):
        program.server(keys, key_memory=-1)


def test_a_run_keeps_the_keys_of_refreshes_within_memory() -> None:
    least, whole = refreshing(by_hand.compile()).key_memory
    reports = [rs.run(by_hand, {"x": X}, seed="3", key_memory=limit) for limit in (None, least)]
    assert len({report.digest for report in reports}) == 1
    assert run_program(by_hand.compile(), {"x": X}, seed="3", key_memory=whole).correct
    with pytest.raises(RingsmithError, match=f"{least} bytes or more"):
        rs.run(by_hand, {"x": X}, seed="3", key_memory=least - 1)
    elsewhere = Mock(spec=["name", "device", "recording", "report", "keeps_client", "client", "server"])
    elsewhere.name = "http://host"
    with pytest.raises(InputError, match="http://host evaluates elsewhere"):
        rs.run(by_hand, {"x": X}, engine=elsewhere, key_memory=least)


def test_two_passes_err_less_and_take_a_level() -> None:
    once, twice = (
        by_hand.options(params=small(free=4, own=replace(SMALL, passes=passes))).compile() for passes in (1, 2)
    )
    assert refreshing(twice).output_level == refreshing(once).output_level - 1
    assert refreshing(twice).added(129) < refreshing(once).added(129) / 64
    assert twice.noise_bits < once.noise_bits - 4
    again = type(twice).from_bytes(twice.to_bytes(), allow_insecure=True)
    assert again.params.bootstrapping == twice.params.bootstrapping
    client = again.client("7")
    keys, sent = client.evaluation_keys, client.encrypt(x=X)
    results = [again.server(keys, threads=threads).evaluate(sent) for threads in (1, 2)]
    assert results[0].digest() == results[1].digest()
    assert np.abs(client.decrypt(results[0]) - again.clear(x=X)).max() < 2**again.noise_bits


def test_a_program_whose_refresh_promises_too_much_is_refused() -> None:
    program = by_hand.compile()
    circuit, params = program.made_from, program.params
    assert circuit is not None

    def made(**changes: Any) -> None:
        steps = tuple(
            replace(step, **changes) if step.kind is Kind.BOOTSTRAP else step for step in circuit.steps
        )  # fmt: skip
        own = replace(circuit, steps=steps)
        assemble(program.signature, params, own, program.noise_bits, program.encryption, Reading())

    made()
    with pytest.raises(RingsmithError, match="level"):
        made(level=circuit.steps[0].level)
    with pytest.raises(RingsmithError, match="scales"):
        made(scale=2.0**39)
    with pytest.raises(RingsmithError, match="promises more"):
        assemble(program.signature, params, circuit, program.noise_bits - 1, program.encryption, Reading())
    narrow = replace(params, bootstrapping=replace(SMALL, bound=0.25))
    with pytest.raises(RingsmithError, match="bound of the bootstrapping"):
        assemble(program.signature, narrow, circuit, program.noise_bits, program.encryption, Reading())


def test_the_refreshes_of_a_program_fail_with_what_it_states_in_all() -> None:
    rare = replace(SMALL, log2_failure=-129.0, weight=31)
    program = by_hand.options(params=small(free=3, own=rare)).compile()
    each = bootstrapping.native(program.params).log2_failure
    if np.isfinite(each):
        with pytest.raises(ParameterError, match="refreshes fail with probability"):
            by_hand.options(params=small(free=3, own=rare), failure_bits=int(-each)).compile()


def through(tolerance: float, turns: int) -> rs.Kernel:
    """Return a kernel that names no set and goes through the damped map turn by turn."""

    @rs.kernel(x=rs.Encrypted(8, bound=1.0), tolerance=tolerance)
    def kernel(x: Any) -> Any:
        for _ in range(turns):
            x = x * x * 0.5 + 0.25
        return x

    return kernel


def test_the_smallest_named_set_that_is_accurate_enough_refreshes() -> None:
    chosen = {tolerance: through(tolerance, 60).compile() for tolerance in (1e-3, 1e-5)}
    small, large = chosen[1e-3], chosen[1e-5]
    assert (small.params.name, large.params.name) == ("ckks-refreshed-32768", "ckks-refreshed-65536")
    for program in chosen.values():
        assert program.params.security.bits >= 128
        assert 2**program.noise_bits < program.signature.tolerance
    # Ten levels and more between refreshes, keys within their bounds.
    given = large.params.bootstrapping
    assert given is not None
    own = bootstrapping.native(replace(large.params, bootstrapping=replace(given, key_bytes=None)))
    assert own.output_level - own.input_level >= 10
    assert refreshing(large).key_bytes <= own.key_bytes <= 2.5 * GIB
    assert own.key_memory[1] <= 6 * GIB
    assert own.added(129) < 2**-12
    # What is left of the levels has no scale of its own.
    assert large.made_from is not None
    steps = [step for step in large.made_from.steps if step.kind is Kind.RESCALE]
    assert max(abs(math.log2(step.scale) - large.params.log2_scale) for step in steps) < 0.1
    # Where none is, one is planned, as far as there is one.
    with pytest.raises(ParameterError, match=r"in the set ckks-refreshed-65536: .*; with refreshes, in a set planned"):
        through(1e-13, 60).compile()


@pytest.mark.slow
def test_two_passes_are_planned_where_one_is_not_exact_enough() -> None:
    program = through(1e-10, 33).compile()
    given = program.params.bootstrapping
    assert given is not None
    assert (program.params.name, given.passes) == ("planned", 2)
    assert program.params.security.bits >= 128
    assert 2**program.noise_bits < 1e-10


@pytest.mark.slow
def test_a_deep_kernel_runs_in_the_largest_set_with_little_memory() -> None:
    program = through(1e-5, 33).compile()
    assert program.params.n == 1 << 16
    client = program.client("7", sample_data=True)
    server = program.server(client.evaluation_keys, key_memory=refreshing(program).key_memory[0])
    error = np.abs(client.decrypt(server.evaluate(client.encrypt(x=X))) - program.clear(x=X)).max()
    assert 0 < error < 2**program.noise_bits


def test_the_parameters_tell_of_refreshes() -> None:
    program = deep.compile()
    first, keys, places = refreshes(program)
    assert first.startswith("9, each from level 2 or above to level 8: ")
    (products,) = re.findall(r" key switches, about the time of (\d+) products at that level, ", first)
    assert int(products) > 10
    assert "MB sent" in keys
    assert places.endswith(": 9")
    assert "refreshes" in box(program)
    assert "alternatives" not in box(program)


def test_ctrl_c_within_a_refresh_ends_it_within_a_second() -> None:
    program = deep.options(params=small(log_n=11)).compile()
    client = program.client("7")
    keys, sent = client.evaluation_keys, client.encrypt(x=X)
    server = program.server(keys, threads=1)
    with interrupted(0.5):
        while True:  # a fast processor is done before
            server.evaluate(sent)
