# SPDX-License-Identifier: Apache-2.0
"""The store of results: its lines, what is stale, and how it is measured."""

from __future__ import annotations

import json
import os
import shutil
import signal
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread
from time import sleep
from typing import Any

import pytest

from ringsmith import shipped
from ringsmith.claims.figures import figures
from ringsmith.errors import InputError, ToolError
from ringsmith.results import Result, load_runs, read, save, sources
from ringsmith.results.measure import by_model, measure, pick, run_command, stale, values_of, why_stale
from ringsmith.results.sources import parts_of

NTT = "ringsmith simulate tiny ntt --on model --json"
SYNTH = "ringsmith synth tiny --json"


@pytest.mark.parametrize(
    ("path", "value"), [("a.b", 3.0), ("list[name=two].cycles", 7.0), ("list[name=one].cycles", 5.0)]
)
def test_pick_follows_paths(path: str, value: float) -> None:
    data = {"a": {"b": 3}, "list": [{"name": "one", "cycles": 5}, {"name": "two", "cycles": 7}]}
    assert pick(data, path) == value


@pytest.mark.parametrize("path", ["a.c", "list[name=three].cycles", "a", "flag"])
def test_pick_refuses_what_is_no_number(path: str) -> None:
    with pytest.raises(ToolError):
        pick({"a": {"b": 3}, "list": [], "flag": True}, path)


def test_a_wrong_result_gives_no_figure() -> None:
    with pytest.raises(ToolError, match="wrong"):
        values_of({"cycles": 3, "correct": False}, ["cycles"])


@pytest.mark.parametrize("command", ["rm -rf x", "python -c 1", "python /tmp/bench/x.py", "ringsmith 'open", ""])
def test_other_commands_are_not_run(command: str) -> None:
    with pytest.raises(ToolError, match="is not a ringsmith command"):
        run_command(command)


def test_a_line_a_result_sorted_and_only_its_own_line_changes(tmp_path: Path) -> None:
    save(
        [Result(command=NTT, values={"cycles": 5, "busy": 0.25}), Result(command="ringsmith run b", values={})],
        tmp_path,
    )
    save([Result(command="ringsmith simulate a", values={"x": 1e-7}, commit="abc", seconds=2.5)], tmp_path)
    lines = (tmp_path / "simulate.json").read_text().splitlines()
    assert [json.loads(line.rstrip(","))["command"] for line in lines[1:-1]] == ["ringsmith simulate a", NTT]
    assert '"values": {"busy": 0.25, "cycles": 5}' in lines[2]
    save([Result(command=NTT, values={"cycles": 6})], tmp_path)
    assert (tmp_path / "simulate.json").read_text().splitlines()[:2] == lines[:2]
    assert read(tmp_path)[NTT].values == {"cycles": 6.0}
    assert read(tmp_path)["ringsmith simulate a"] == Result(
        command="ringsmith simulate a", values={"x": 1e-7}, commit="abc", seconds=2.5
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("run = 1", "no list of tables"),
        ("[[run]]\nid = 'a'\ncommand = 'c'", "needs id, command and values"),
        ("[[run]]\nid = 'A b'\ncommand = 'c'\nvalues = ['x']", "small letters"),
        ("[[run]]\nid = 'a'\ncommand = 'c'\nvalues = [1]", "text on one line"),
        ("[[run]]\nid = 'a'\ncommand = 'c'\nvalues = ['x']\n" * 2, "the id 'a' stands twice"),
    ],
)
def test_a_bad_run_is_refused(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "runs.toml").write_text(text)
    with pytest.raises(InputError, match=words):
        load_runs(tmp_path / "runs.toml")


def test_what_is_stale_and_why() -> None:
    fresh = Result(command=NTT, values={"cycles": 1}, sources=parts_of(NTT))
    assert why_stale(fresh, NTT, ["cycles"]) is None
    assert why_stale(None, NTT, ["cycles"]) == "never measured"
    assert why_stale(fresh, NTT, ["cycles", "busy"]) == "busy was never measured"
    assert why_stale(replace(fresh, sources={}), NTT, ["cycles"]) == "its sources are not known"
    old = replace(fresh, sources={**fresh.sources, "engine": "0", "preset": "0"})
    assert why_stale(old, NTT, ["cycles"]) == "changed since: engine, preset"


def test_the_cheapest_come_first() -> None:
    stored = {SYNTH: Result(command=SYNTH, values={}, seconds=2.0)}
    wanted: dict[str, list[str]] = {"ringsmith simulate tiny ntt --json": ["cycles"], NTT: ["cycles"], SYNTH: ["lut"]}
    assert list(stale(wanted, stored)) == [SYNTH, NTT, "ringsmith simulate tiny ntt --json"]


def test_each_command_has_the_parts_it_depends_on() -> None:
    assert set(parts_of(NTT)) == {"preset", "engine", "language"}
    assert set(parts_of("ringsmith simulate tiny ntt --json")) == {"preset", "engine", "language", "rtl"}
    assert set(parts_of(SYNTH)) == {"preset", "language", "rtl", "flow"}
    bitstream = "ringsmith bitstream ulx3s --output out --json --board"
    assert set(parts_of(f"{bitstream} ulx3s-85f")) == {"preset", "language", "rtl", "flow", "board"}
    assert parts_of(f"{bitstream} ulx3s-85f")["board"] != parts_of(f"{bitstream} orangecrab-25f")["board"]
    kernel = "examples/kernels/matmul-plain-1x10.py"
    run = {"compiler", "engine", "language", "parameters", "program", Path(kernel).name}
    assert set(parts_of(f"ringsmith run {kernel} --json")) == run
    explore = f"ringsmith explore {kernel} --json --board"
    assert set(parts_of(f"{explore} zcu104")) == run | {"estimates", "board"}
    assert parts_of(f"{explore} zcu104")["board"] != parts_of(f"{explore} zcu102")["board"]
    assert parts_of(NTT)["preset"] != parts_of(f"{NTT} --set lanes=1")["preset"]
    assert parts_of("ringsmith simulate zynq-cn ntt --json")["rtl"] != parts_of(SYNTH)["rtl"]


def tree(folder: Path) -> Path:
    """A tree with the sources that a command of the model depends on."""
    for name in ("spec", "crates/model/src", "crates/offload/src"):
        shutil.copytree(shipped.root() / name, folder / name)
    return folder


def hashes(command: str) -> dict[str, str]:
    """The parts of a command in the tree as it is now, nothing kept from before."""
    for kept in (sources._files, sources._crates, sources._language):
        kept.cache_clear()
    return parts_of(command)


def test_only_the_modules_below_the_tops_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(shipped.rtl(), tmp_path / "rtl", ignore=shutil.ignore_patterns("sim_build", "*.py"))
    shutil.copytree(shipped.spec(), tmp_path / "spec")
    monkeypatch.setenv("RINGSMITH_ROOT", str(tmp_path))

    def rtl() -> str:
        sources._rtl.cache_clear()
        return parts_of(SYNTH)["rtl"]

    before = rtl()
    (tmp_path / "rtl" / "prim" / "rs_beside.sv").write_text("module rs_beside;\nendmodule\n")
    assert rtl() == before
    fifo = tmp_path / "rtl" / "prim" / "rs_fifo.sv"
    fifo.write_text(fifo.read_text().replace("endmodule", "  logic more;\nendmodule"))
    changed = rtl()
    assert changed != before
    # A module that one of the tops' modules names counts from then on.
    fifo.write_text(fifo.read_text().replace("endmodule", "  rs_beside u_beside ();\nendmodule"))
    assert rtl() not in (before, changed)
    monkeypatch.undo()
    rtl()


def test_a_changed_latency_makes_figures_stale_and_a_comment_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tree(tmp_path)
    monkeypatch.setenv("RINGSMITH_ROOT", str(root))
    before = hashes(NTT)
    latency = root / "spec" / "latency.yaml"
    latency.write_text("# A remark.\n\n" + latency.read_text())
    timing = next((root / "crates" / "model" / "src").rglob("*.rs"))
    timing.write_text(f"// A remark.\n{timing.read_text()}\n#[cfg(test)]\nmod more {{\n    use super::*;\n}}\n")
    assert hashes(NTT) == before
    latency.write_text(latency.read_text() + "more: 1\n")
    timing.write_text("const MORE: u32 = 1;\n" + timing.read_text())
    after = hashes(NTT)
    assert {part for part in before if before[part] != after[part]} == {"language", "engine"}
    monkeypatch.undo()
    hashes(NTT)


@pytest.mark.parametrize("name", ["security.toml", "prices.json"])
def test_a_changed_parameter_set_or_price_makes_programs_stale(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = "ringsmith run examples/kernels/matmul-plain-1x10.py --json"
    root = tree(tmp_path)
    monkeypatch.setenv("RINGSMITH_ROOT", str(root))
    before = hashes(run)
    file = root / "spec" / "params" / name
    file.write_text("2".join(file.read_text().rsplit("1", 1)))
    after = hashes(run)
    assert {part for part in before if before[part] != after[part]} == {"parameters"}
    monkeypatch.undo()
    hashes(run)


def of_each(commands: list[str], place: str) -> dict[str, list[str]]:
    return {command: [place] for command in commands}


def test_measuring_stores_each_as_it_ends_and_goes_on_after_a_failure(tmp_path: Path) -> None:
    commands = [f"ringsmith simulate tiny {name} --on model --json" for name in ("ntt", "bad", "intt")]
    told: list[str] = []
    calls: list[str] = []

    def run(command: str) -> Any:
        calls.append(command)
        return {} if "bad" in command else {"cycles": 42, "other": 1}

    failures = measure(of_each(commands, "cycles"), commands, progress=told.append, run=run, folder=tmp_path)
    assert sorted(calls) == sorted(commands)
    assert list(failures) == [commands[1]]
    assert {command: result.values for command, result in read(tmp_path).items()} == {
        commands[0]: {"cycles": 42.0},
        commands[2]: {"cycles": 42.0},
    }
    assert sorted(line.split(",")[0] for line in told) == ["[1/3", "[2/3", "[3/3"]
    assert all(" left] " in line for line in told)
    assert stale(of_each(commands, "cycles"), read(tmp_path)) == {commands[1]: "never measured"}


def test_two_run_at_a_time_and_a_kill_keeps_what_has_ended(tmp_path: Path) -> None:
    both = Event()
    waiting: list[str] = []

    def run(command: str) -> Any:
        if command.endswith("2"):
            raise KeyboardInterrupt
        waiting.append(command)
        if len(waiting) == 2:
            both.set()
        assert both.wait(20)
        return {"x": 1}

    commands = [f"ringsmith run {number}" for number in range(3)]
    with pytest.raises(KeyboardInterrupt):
        measure(of_each(commands, "x"), commands, progress=lambda _: None, run=run, folder=tmp_path)
    assert set(stale(of_each(commands, "x"), read(tmp_path))) == {commands[2]}


def test_an_interrupt_ends_the_commands_under_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "long.py").write_text(
        "import os, pathlib, time\npathlib.Path('new').write_text(str(os.getpid()))\nos.rename('new', 'pid')\n"
        "time.sleep(20)\nopen('ended', 'w')\n"
    )
    told = tmp_path / "pid"

    def run(command: str) -> Any:
        monkeypatch.setattr("ringsmith.results.measure.shipped.root", lambda: tmp_path)
        return run_command(command)

    def interrupt() -> None:
        while not told.exists():
            sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    command = "python bench/long.py"
    Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        measure({command: ["x"]}, [command], progress=lambda _: None, run=run, folder=tmp_path)
    assert not (tmp_path / "ended").exists(), "it was waited for"
    with pytest.raises(ProcessLookupError):
        os.kill(int(told.read_text()), 0)


def test_the_model_stands_for_simulated_rtl() -> None:
    assert by_model("ringsmith simulate heaws ntt --json") == "ringsmith simulate heaws ntt --on model --json"
    assert by_model(NTT) == NTT
    assert by_model("ringsmith simulate zynq-cn ntt --json") is None
    assert by_model(SYNTH) is None


def test_no_result_is_of_a_tree_that_cannot_be_named() -> None:
    assert [name for name, result in figures().stored.items() if not result.commit or not result.date] == []
