# SPDX-License-Identifier: Apache-2.0
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ringsmith as rs
from ringsmith.cli import main
from ringsmith.cli.simulate import measure
from ringsmith.runtime.devices import open_device
from ringsmith.runtime.engine import EngineOptions
from ringsmith.runtime.engines import open_engine
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


@rs.kernel(x=rs.Encrypted(4, low=-3, high=3))
def refreshed(x: Any) -> Any:
    """A function of the client's, and a product after it."""
    return rs.refresh(x, lambda v: np.maximum(v, 0), low=0, high=3) * 2


def steps(path: Path) -> tuple[list[tuple[str, float]], dict[str, list[str]]]:
    """The slices of a CPU's trace, each with its milliseconds, and the annotated parts of those that have any."""
    packets = [dict(fields(as_bytes(body))) for _, body in fields(path.read_bytes())]
    events = [(int(packet[8]), fields(as_bytes(packet[11]))) for packet in packets if 11 in packet]
    found, parts, last = [], {}, 0
    for (start, begin), (end, closing) in zip(events[::2], events[1::2], strict=True):
        assert (dict(begin)[9], dict(closing)[9], start) == (1, 2, last)
        name, last = as_bytes(dict(begin)[23]).decode(), end
        found.append((name, (end - start) / 1e6))
        parts[name] = [as_bytes(dict(fields(as_bytes(body)))[10]).decode() for number, body in begin if number == 4]
    return found, parts


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
