# SPDX-License-Identifier: Apache-2.0
import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from ringsmith.cli import main


def simulate(*arguments: str) -> CompletedProcess[str]:
    """Run the command in this process, as from a pipe; test_run.py runs commands in processes of their own."""
    command, out, err = ["ringsmith", "simulate", *arguments], io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr(sys, "argv", command)
        patch.setenv("COLUMNS", "80")
        with pytest.raises(SystemExit) as ended:
            main()
    assert isinstance(ended.value.code, int)
    return CompletedProcess(command, ended.value.code, out.getvalue(), err.getvalue())


def test_json_is_one_object_with_cycles_prediction_and_times(tmp_path: Path) -> None:
    trace = tmp_path / "t.pftrace"
    done = simulate("bfv-client", "zero-encrypt", "--on", "model", "--json", "--trace", str(trace))
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["correct"] is True
    assert report["cycles"] == report["predicted_cycles"] <= 41_100
    assert report["time_us"] == pytest.approx(report["cycles"] / 157.0)
    assert report["time_us_by_clock"]["60"] == pytest.approx(report["cycles"] / 60.0)
    assert report["busy"]["compute"] > 0
    assert report["send"]["bytes"] == 6 * 3 * 4096 * 8
    assert trace.stat().st_size > 500


HEAWS = {"ntt": 12_320, "lift": 6_200, "scale-lift": 14_450, "decomp": 6 * 4_200}


@pytest.mark.parametrize(("op", "most"), HEAWS.items())
def test_base_conversion_at_the_published_shape(op: str, most: int) -> None:
    done = simulate("heaws", op, "--on", "model", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["correct"] is True
    assert report["n"] == 4096
    assert report["cycles"] == report["predicted_cycles"] <= most
    assert (report["busy"]["rns"] > 0) == (op != "ntt")


# Beats of 64 bytes for seven lanes; half of them a cycle, 40 cycles away.
MEMORIES: list[tuple[list[str], int, dict[str, float | None]]] = [
    (
        ["wide_port=false", "stream=false"],
        7 * 2048 + 24,
        {"gbs": None, "bytes_per_cycle": None, "read_latency_cycles": 20},
    ),
    ([], 2048 + 24, {"gbs": None, "latency_ns": None, "read_latency_cycles": 20, "write_latency_cycles": 8}),
    (
        ["memory_gbs=6.4", "memory_latency_ns=200.0"],
        2 * 2048 + 43,
        {"gbs": 6.4, "latency_ns": 200.0, "bytes_per_cycle": 32, "read_latency_cycles": 40, "write_latency_cycles": 40},
    ),
]


@pytest.mark.parametrize(("settings", "cycles", "memory"), MEMORIES)
def test_transfers_by_port_and_memory(settings: list[str], cycles: int, memory: dict[str, float | None]) -> None:
    sets = [word for setting in settings for word in ("--set", setting)]
    done = simulate("heaws", "load", "--on", "model", "--json", *sets)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["cycles"] == pytest.approx(cycles, abs=2)
    assert report["memory"].items() >= memory.items()


def test_a_whole_multiplication_at_the_published_shape() -> None:
    done = simulate("heaws", "multiply", "--on", "model", "--allow-insecure", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["correct"] is True
    assert report["cycles"] == report["predicted_cycles"]
    whole = report["multiplication"]
    assert (whole["host_operations"], whole["submissions"]) == (0, 1)
    assert (len(whole["data_primes"]), len(whole["auxiliary_primes"])) == (6, 7)
    # 20 transforms and 20 pointwise instructions, back to back, and little else.
    assert 286_000 < report["busy"]["compute"] < 295_000
    assert done.stderr.count("\n") <= 1


SHAPES = [("heaws", 3, True), ("heaws", 9, False), ("heaws-13", 6, True), ("heaws-14", 12, False)]
SHAPES += [("heaws-15", 24, False)]


@pytest.mark.parametrize(("preset", "primes", "whole"), SHAPES)
def test_a_multiplication_of_so_many_primes(preset: str, primes: int, whole: bool) -> None:
    """Primes take turns in the lanes; conversions between more primes than the unit takes stay on the host."""
    words = [preset, "multiply", "--on", "model", "--allow-insecure", "--n", "256", "--json", "--primes", str(primes)]
    done = simulate(*words)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["correct"] is True
    found = report["multiplication"]
    assert (len(found["data_primes"]), len(found["auxiliary_primes"])) == (primes, primes + 1)
    assert (found["host_operations"] == 0) == (found["submissions"] == 1) == whole
    assert found["work_cycles"] > 0


@pytest.mark.parametrize(("n", "primes", "published"), [(4096, 2, 21_504), (8192, 3, 53_248)])
def test_a_rotation_takes_no_longer_than_the_published_key_switch(n: int, primes: int, published: int) -> None:
    """T (k + 5), T = n log2(n) / (2 P): the published formula at its own number of butterflies, (k + 5) P, or fewer."""
    done = simulate("coxhe-zcu102-p8", "rotate", "--n", str(n), "--primes", str(primes), "--on", "model", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["correct"] is True
    assert report["cycles"] == report["predicted_cycles"]
    whole = report["rotation"]
    assert (whole["host_operations"], whole["submissions"], len(whole["data_primes"])) == (0, 1, primes)
    assert whole["work_cycles"] <= published


# n, data primes, lanes, most cycles of one, of each further one and of one against one in the order of HEAX.
KEY_SWITCHES = [
    (4096, 2, 6, 21_504, 24_000, 0.67),
    pytest.param(8192, 3, 8, 53_248, 60_000, 0.67, marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("n", "primes", "lanes", "latency", "steady", "share"), KEY_SWITCHES)
def test_key_switches_by_themselves_in_flight_and_digit_by_digit(
    n: int, primes: int, lanes: int, latency: int, steady: int, share: float
) -> None:
    """Latency T (k + 5) at (k + 5) P butterflies or fewer; the order of HEAX takes half as long again, or longer."""
    words = ["coxhe-zcu102-p8", "key-switch", "--n", str(n), "--primes", str(primes), "--set", f"lanes={lanes}"]
    reports = []
    for further in ([], ["--digit-major"], ["--batch", "4"], ["--batch", "8"]):
        done = simulate(*words, "--on", "model", "--json", *further)
        assert done.returncode == 0, done.stderr
        reports.append(json.loads(done.stdout))
    one, digit_major, half, many = reports
    for report in reports:
        assert report["correct"] is True
        assert report["cycles"] == report["predicted_cycles"]
        assert report["key_switch"]["host_operations"] == 0
    assert lanes <= primes + 5
    assert one["key_switch"]["work_cycles"] <= latency
    assert one["key_switch"]["work_cycles"] <= share * digit_major["key_switch"]["work_cycles"]
    assert digit_major["orders"]["cycles"] == one["key_switch"]["work_cycles"]
    assert digit_major["orders"]["saved_percent"] >= 100 * (1 - share)
    assert many["steady"]["latency_cycles"] == one["cycles"]
    assert many["steady"]["cycles_each"] == pytest.approx((many["cycles"] - half["cycles"]) / 4)
    assert half["steady"]["further"] == 2
    assert many["steady"]["cycles_each"] <= steady
    assert 0.7 < many["steady"]["busy"]["compute"] < 1


def test_six_cores_share_a_batch() -> None:
    done = simulate("heaws-x6", "multiply", "--batch", "6", "--on", "model", "--allow-insecure", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    batch = report["batch"]
    assert report["correct"] is True
    assert batch["per_second"] == pytest.approx(6 * 200e6 / report["cycles"])
    assert batch["per_second"] > 2800
    assert len(batch["cores"]) == 6
    for core in batch["cores"]:
        assert sum(core.values()) == pytest.approx(1)
    assert batch["port_transfers"] < batch["transfers"]
    assert 0.3 < batch["port"] < 0.9
    assert batch["limit"] == "transforms and products"


def test_cores_of_one_lane_are_bound_by_transforms() -> None:
    # HEAX's set A with its 96 butterflies: twelve transforms of 1,536 cycles for each switch, shared out to six cores.
    done = simulate("heax-a-x6", "key-switch", "--batch", "48", "--on", "model", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["correct"] is True
    least = 12 * (4096 * 12 // 32) / 6
    assert least < report["steady"]["cycles_each"] < 1.02 * least
    alone = simulate("heax-a-x6", "key-switch", "--on", "model")
    assert (alone.returncode, "or several in flight by --batch" in alone.stderr.replace("\n", " ")) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["heaws", "multiply", "--on", "model"], "128"),
        (["heaws", "multiply", "--on", "model", "--batch", "0"], "--batch 0 must be 1 to 1024"),
        (["heaws", "ntt", "--on", "model", "--batch", "2"], "--batch 2 goes with multiply"),
        (["cofhee", "ntt", "--set", "cores=2"], "cores must be 1 on the serial host"),
        (["tiny", "multiply", "--on", "model", "--allow-insecure"], "base conversion is not in this build"),
        (["tiny", "rotate", "--on", "model"], "moves between lanes are not in this build"),
        (["tiny", "key-switch", "--on", "model", "--batch", "2"], "key-switch runs once, on one"),
        (["tiny", "key-switch", "--on", "model", "--digit-major"], "of builds with moves, not with key-switch"),
        (["coxhe-zcu102-p8", "ntt", "--on", "model", "--digit-major"], "--digit-major goes with rotate and key-switch"),
        (["coxhe-zcu102-p8", "key-switch", "--batch", "1025"], "--batch 1025 must be 1 to 1024"),
        (["coxhe-zcu102-p8", "key-switch", "--n", "4096", "--primes", "7", "--on", "model"], "7 data primes"),
        (
            ["coxhe-zcu102-p8", "key-switch", "--n", "8192", "--primes", "8", "--on", "model"],
            "--primes 8: a key switch by itself takes 9 lanes, one for each prime, special ones too; preset",
        ),
        (["no-preset", "ntt"], "no preset 'no-preset'; presets:"),
        (["tiny", "frob"], "'frob' is no instruction or operation"),
        (["tiny", "lift", "--on", "model"], "lift is not in this build"),
        (["tiny", "decomp", "--on", "model"], "lift is not in this build"),
        (["heaws", "scale-lift", "--n", "8192", "--on", "model"], "n = 8192 is beyond the build"),
        (["heaws", "decomp", "--assembly"], "--assembly prints the program of an operation"),
        (["tiny", "ntt", "--n", "100", "--on", "model"], "n = 100 is no ring degree"),
        (["tiny", "ntt", "--n", "1024", "--on", "model"], "n = 1024 is beyond the build"),
        (["tiny", "ntt", "--set", "butterflies=3"], "butterflies must be 1, 2, 4, 8, 16 or 32, got 3"),
        (["cofhee", "ntt", "--set", "wide_port=true"], "wide_port must be false on the serial host"),
        (["bfv-client", "tensor", "--on", "model"], "does not take tensor; it takes zero-encrypt"),
        (["tiny", "ntt", "--assembly"], "--assembly prints the program of an operation"),
        (["tiny", "ntt", "--n", "-8", "--on", "model"], "n = -8 is no ring degree"),
        (["tiny", "ntt", "--n", str(1 << 70), "--on", "model"], "is no ring degree"),
        (["tiny", "x" * 5000, "--on", "model"], "is no instruction or operation"),
        (["tiny", "ntt", "--on", "fpga"], "--on 'fpga': model, rtl or board:PORT"),
        (["zynq-pn3", "ntt", "--n", "-8"], "transforms 8 points, not -8"),
        (
            ["tiny", "ntt", "--set", "single_port_slots=0", "--set", "dual_port_slots=4"],
            "has 4 slots; simulate needs 5",
        ),
    ],
)
def test_bad_input_is_one_line_and_exit_2(arguments: list[str], words: str) -> None:
    done = simulate(*arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stderr.strip().count("\n") == 0
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["ntt", "--n", "100"], "n = 100 is no ring degree"),
        (["ntt", "--n", "-8"], "n = -8 is no ring degree"),
        (["ntt", "--n", "1024"], "n = 1024 is beyond the build"),
        (["pmodadd", "--n", "4"], "n = 4 is no ring degree"),
        (["lift"], "lift is not in this build"),
        (["pmul", "--set", "pmul=false"], "pmul is not in this build"),
        (["frob"], "'frob' is no instruction or operation"),
        (["key-switch", "--set", "operations=['tensor']"], "does not take key-switch"),
        (["ntt", "--set", "prime_bits=[5]"], "must leave at least"),
        (["ntt", "--trace", "/nonexistent/t.pftrace"], "no such folder"),
    ],
)
def test_what_cannot_run_is_refused_before_the_build(
    arguments: list[str], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RINGSMITH_CACHE", str(tmp_path))
    done = simulate("tiny", *arguments, "--on", "rtl")
    assert done.returncode == 2, done.stdout
    assert words in done.stderr
    assert "[1/2]" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_assembly_prints_a_program() -> None:
    done = simulate("cofhee", "polymul", "--assembly")
    assert done.returncode == 0
    assert done.stdout.splitlines()[0] == "; polymul on cofhee, n = 4096"
    assert "intt s2, s2 n=4096" in done.stdout
