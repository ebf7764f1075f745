# SPDX-License-Identifier: Apache-2.0
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ringsmith as rs
from ringsmith._native import Polynomials, ntt_primes
from ringsmith.cli import main
from ringsmith.cli.measure import measure
from ringsmith.runtime.devices import open_device
from ringsmith.runtime.engine import EngineOptions
from ringsmith.runtime.engines import open_engine
from ringsmith.runtime.run_trace import DeviceClock, Ran, Step, take_ran, write_run
from ringsmith.runtime.timeline import summary, trace_bytes, write_trace

Fields = list[tuple[int, int | bytes]]


def fields(data: bytes) -> Fields:
    """A protobuf message's fields, varints and byte strings."""
    at = 0
    found: Fields = []

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            found.append((key >> 3, varint()))
        else:
            assert key & 7 == 2, key
            size = varint()
            found.append((key >> 3, data[at : at + size]))
            at += size
    return found


def as_bytes(value: int | bytes) -> bytes:
    assert isinstance(value, bytes)
    return value


def profile() -> tuple[dict[str, Any], str]:
    outcome = measure(open_device("model", "tiny"), "tensor", 256)
    return outcome["profile"], outcome["assembly"]


def test_a_trace_is_a_list_of_packets_with_a_track_for_each_unit(tmp_path: Path) -> None:
    measured, assembly = profile()
    path = tmp_path / "tensor.pftrace"
    write_trace(path, "model:tiny tensor", measured, 100.0, assembly)
    packets = [dict(fields(as_bytes(body))) for number, body in fields(path.read_bytes()) if number == 1]
    tracks = [dict(fields(as_bytes(packet[60])))[2] for packet in packets if 60 in packet]
    assert tracks == [b"model:tiny tensor", b"compute", b"memory"]
    slices = [(packet[8], dict(fields(as_bytes(packet[11])))) for packet in packets if 11 in packet]
    begins = [body[23] for _, body in slices if body[9] == 1]
    assert begins.count(b"ntt") == 4
    assert begins.count(b"intt") == 3
    # Begin and end alternate on a track, in order of time: slices never overlap.
    assert [body[9] for _, body in slices] == [1, 2] * len(begins)
    times = [int(time) for time, _ in slices]
    assert times == sorted(times)
    assert times[-1] == measured["events"][-1][4] * 10


def test_traces_of_both_units_and_of_nothing() -> None:
    empty = {
        "cycles": 0,
        "busy_compute": 0,
        "busy_memory": 0,
        "busy_rns": 0,
        "stall_hazard": 0,
        "stall_unit": 0,
        "events": [],
    }
    assert len(fields(trace_bytes("empty", empty, 50.0))) == 3
    assert len(summary("empty", empty, 50.0)) == 5


def test_the_summary_has_ten_lines_and_names_the_waits() -> None:
    measured, _ = profile()
    lines = summary("tensor", measured, 100.0)
    assert len(lines) == 10
    assert "4,121 cycles, 41.2 us at 100 MHz" in lines[0]
    assert "100.0 %" in lines[1]
    assert "ntt waited for its unit, behind" in " ".join(lines)


@rs.kernel(scheme="bfv", x=rs.Encrypted(8, bound=9), params="bfv-client", allow_insecure=True)
def doubled(x: Any) -> Any:
    """A sum: no keys, no depth."""
    return x + x


@rs.kernel(scheme="bfv", x=rs.Encrypted(8, bound=9), params="bfv-client", allow_insecure=True)
def squared(x: Any) -> Any:
    """A product on the device, whose scaling the host does in between."""
    return x * x


@rs.kernel(x=rs.Encrypted(4, low=-3, high=3))
def refreshed(x: Any) -> Any:
    """A function of the client's, and a product after it."""
    return rs.refresh(x, lambda v: np.maximum(v, 0), low=0, high=3) * 2


class Trace:
    """A trace that was read: by process and name of a track its slices with begin, end (ns) and annotations."""

    def __init__(self, path: Path) -> None:
        """Read the file."""
        packets = [dict(fields(as_bytes(body))) for _, body in fields(path.read_bytes())]
        descriptors = [dict(fields(as_bytes(packet[60]))) for packet in packets if 60 in packet]
        names = {track[1]: as_bytes(track[2]).decode() for track in descriptors}
        self.tracks: dict[tuple[str, str], list[tuple[str, int, int, list[str]]]] = {
            (names[track[5]], names[track[1]]): [] for track in descriptors if 5 in track
        }
        home = {track[1]: (names[track[5]], names[track[1]]) for track in descriptors if 5 in track}
        events = [(int(packet[8]), fields(as_bytes(packet[11]))) for packet in packets if 11 in packet]
        for (start, begin), (end, closing) in zip(events[::2], events[1::2], strict=True):
            assert (dict(begin)[9], dict(closing)[9], dict(begin)[11]) == (1, 2, dict(closing)[11])
            notes = [as_bytes(dict(fields(as_bytes(body)))[10]).decode() for number, body in begin if number == 4]
            self.tracks[home[dict(begin)[11]]].append((as_bytes(dict(begin)[23]).decode(), start, end, notes))

    def track(self, name: str) -> list[tuple[str, int, int, list[str]]]:
        """The slices of the only track of that name, which stand apart and in order."""
        (slices,) = [found for (_, own), found in self.tracks.items() if own == name]
        assert all(0 <= start <= end for _, start, end, _ in slices)
        assert all(before[2] <= after[1] for before, after in pairwise(slices))
        return slices


def steps(path: Path) -> tuple[list[tuple[str, float]], dict[str, list[str]]]:
    """The steps of a trace, each with its milliseconds, and the annotated parts of those that have any."""
    found = Trace(path).track("steps")
    return [(name, (end - start) / 1e6) for name, start, end, _ in found], {name: notes for name, *_, notes in found}


def test_a_trace_of_the_cpu_has_every_step_of_the_report(tmp_path: Path) -> None:
    path = tmp_path / "run.pftrace"
    report = rs.run(doubled, seed="7", engine=open_engine("cpu", EngineOptions(trace=str(path))))
    found, parts = steps(path)
    assert [name for name, _ in found] == ["inputs", "compile", "clear", "keygen", "encrypt", "evaluate", "decrypt"]
    assert dict(found) == pytest.approx(dict(report.time_ms), abs=1e-5)
    assert parts["evaluate"] == [f"{kind}, us" for kind in report.evaluation_ms] != []
    assert not any(own for name, own in parts.items() if name != "evaluate")


def test_a_trace_of_a_client_aided_run_has_its_rounds_as_one_step(tmp_path: Path) -> None:
    path = tmp_path / "run.pftrace"
    report = rs.run(refreshed, seed="7", engine=open_engine("cpu", EngineOptions(trace=str(path))))
    found, parts = steps(path)
    assert [name for name, _ in found] == ["inputs", "compile", "clear", "keygen", "rounds"]
    assert parts["rounds"] == ["client, us", "wire, us", "server, us"]
    assert dict(found)["rounds"] == pytest.approx(report.time_ms["rounds"], abs=1e-5)


def test_a_trace_of_a_coprocessor_has_every_program_beside_the_steps(tmp_path: Path) -> None:
    path = tmp_path / "run.pftrace"
    engine = open_engine("model:cofhee", EngineOptions(trace=str(path)))
    report = rs.run(squared, seed="7", engine=engine)
    assert report.correct
    submissions = report.engine_facts["device"]["submissions"]
    assert submissions > 1
    found = Trace(path)
    programs = found.track("programs")
    assert [name for name, *_ in programs] == [f"program {i}" for i in range(submissions)]
    # Between two of them the host works, and the steps hold them: time passes by the device's cycles.
    clock = report.engine_facts["device"]["clock_mhz"]
    took = sum(end - start for _, start, end, _ in programs)
    assert took == pytest.approx(report.engine_facts["device"]["cycles"] * 1e3 / clock, abs=submissions)
    assert any(before[2] + 1000 < after[1] for before, after in pairwise(programs))
    stages = {name: (start, end) for name, start, end, _ in found.track("steps")}
    # Two clocks are read one after the other; a busy machine takes its time between them.
    slack = 5e7
    for _, start, end, _ in programs:
        assert any(begun - slack <= start and end <= ended + slack for begun, ended in stages.values())
    instructions = [one for unit in ("compute", "memory") for one in found.track(unit)]
    assert len(instructions) == report.engine_facts["device"]["instructions"]
    assert all(any(p[1] <= i[1] and i[2] <= p[2] + 1 for p in programs) for i in instructions)


def test_time_beside_a_device_passes_by_its_cycles() -> None:
    # Two cores at once from second 1 to 5 of the simulation, one alone from 6 to 7; at 1 MHz a cycle is 1000 ns.
    cores = [[Ran(1.0, 5.0, 3, (), 1), Ran(6.0, 7.0, 2, (), 1)], [Ran(1.0, 4.0, 7, (), 1)]]
    clock = DeviceClock(0.0, cores, 1.0)
    at = [clock.at(second) for second in (0.0, 1.0, 3.0, 5.0, 6.0, 6.5, 7.0, 8.0)]
    assert at == pytest.approx([0, 1e9, 1e9, 1e9 + 7e3, 2e9 + 7e3, 2e9 + 7e3, 2e9 + 9e3, 3e9 + 9e3])


def test_no_program_begins_before_its_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pause between two looks at the clock moved programs to before the first step, which no trace can hold."""
    n, (q,) = 32, ntt_primes(32, 30, 1)
    program = Polynomials(n, [[(q, 0)]])
    program.output(program.apply("mul", [program.apply("add", [[program.source("values", [0])]] * 2)] * 2))
    device = open_device("model", "tiny").native
    device.keep_timeline()
    begun = time.perf_counter()
    program.run([np.full((1, n), 3, dtype=np.uint64)], device)
    monkeypatch.setattr(time, "perf_counter", lambda: begun - 1.0)
    cores = take_ran(device, begun)
    assert min(ran.begun for core in cores for ran in core) == pytest.approx(begun)
    path = tmp_path / "run.pftrace"
    write_run(path, "k", [Step("evaluate", begun, 1000.0)], cores, device="model:tiny", clock_mhz=100.0)
    assert len(Trace(path).track("programs")) > 0


def test_programs_beyond_the_bound_are_one_slice(tmp_path: Path) -> None:
    path = tmp_path / "run.pftrace"
    core = [Ran(0.1, 0.2, 50, [(0, "ntt", "compute", 0, 50)], 1), Ran(0.3, 0.9, 70_000, (), 1234)]
    write_run(path, "k", [Step("evaluate", 0.0, 1000.0)], [core], device="model:x", clock_mhz=1.0)
    names = [name for name, *_ in Trace(path).track("programs")]
    assert names == ["program 0", "1,234 programs, without their instructions"]


def test_a_trace_of_what_a_server_evaluates_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.pftrace"
    monkeypatch.setattr("sys.argv", ["ringsmith", "run", "k.py", "--at", "https://localhost:1", "--trace", str(path)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "--trace shows a run on this machine" in capsys.readouterr().err
    assert not path.exists()
