# SPDX-License-Identifier: Apache-2.0
"""What can go wrong around a search: a full disk, two processes on one file, workers that die again and again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ringsmith import shipped
from ringsmith.errors import InputError, ParameterError, ToolError
from ringsmith.explore.conftest import Searched
from ringsmith.explore.evaluate import ATTEMPTS, Evaluator
from ringsmith.explore.search import packed
from ringsmith.explore.space import Hardware, preset_of
from ringsmith.explore.store import Results
from ringsmith.hw.synth import load_board

BUILD = Hardware(2, 2, 8, 0, 1, 16, wide_port=True)
FEW = ["lanes=2", "butterflies=2,4", "dual_port_slots=6,8", "single_port_slots=0", "moduli_slots=1", "moves=16"]

SEARCH = """
import sys
from pathlib import Path
from ringsmith.explore.conftest import energy_of
from ringsmith.explore.evaluate import Evaluator
from ringsmith.explore.parameters import candidates
from ringsmith.explore.report import as_json
from ringsmith.explore.search import explore, packed
from ringsmith.explore.space import values_with
from ringsmith.explore.store import Results
from ringsmith.hw.synth import load_board
found = candidates(energy_of, {"x": (8,)})
with Evaluator(packed(found), 1) as evaluator:
    space = values_with(["cores=1", "rns_rate=0", *sys.argv[2:]])
    made = explore(found, space, load_board("zcu102"), Results(Path(sys.argv[1])), evaluator)
print([(point.name, point.cycles) for point in made.front])
"""


def test_a_full_disk_is_told_with_what_would_help_and_loses_nothing(tmp_path: Path) -> None:
    file = tmp_path / "results.sqlite"
    results = Results(file)
    results.put([("first", {"cycles": 1})])
    results._connection.execute("pragma max_page_count = 4")  # SQLite then has no more room, as on a full disk
    with pytest.raises(InputError, match=r"results\.sqlite: .*full; make room, or name another file with --results"):
        results.put([(f"key {number}", "much " * 200) for number in range(99)])
    assert results.get(["first", "key 0"]) == {"first": {"cycles": 1}}, "all or none"
    results.close()
    assert Results(file).get(["first"]) == {"first": {"cycles": 1}}


def test_a_file_in_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="unable to open database file; make room, or name another file"):
        Results(tmp_path / "nowhere" / "results.sqlite")


def test_two_processes_share_a_file_of_results(tmp_path: Path, searched: Searched) -> None:
    file = str(tmp_path / "shared.sqlite")
    command = [sys.executable, "-c", SEARCH, file, *FEW]
    # Its prices of the host's operations are kept: processes that measure them at once find slightly different ones.
    alone = searched(Path(":memory:"), FEW)
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = [one.communicate(timeout=120)[0] for one in both]
    assert [one.returncode for one in both] == [0, 0]
    assert said == [f"{[(point.name, point.cycles) for point in alone.front]}\n"] * 2


def test_workers_that_die_again_and_again_end_the_search_with_what_would_help(found: list[Any]) -> None:
    able = next(one for one in found if hasattr(one, "compiled"))
    task = (able.name, preset_of(able, BUILD, load_board("zcu102")), 1)
    with Evaluator(packed(found), 2) as evaluator:
        opened, started = evaluator._opened, []

        def dying() -> Any:
            pool = opened()
            started.append(pool)
            pool.submit(os.getpid).result()
            for process in list(pool._processes):
                os.kill(process, signal.SIGKILL)
            return pool

        evaluator._opened = dying  # type: ignore[method-assign]
        evaluator._pool = dying()
        with pytest.raises(ToolError, match=f"a worker died {ATTEMPTS} times, 3 points left; fewer --jobs"):
            list(evaluator.run([task] * 3))
    assert len(started) == ATTEMPTS + 1


def test_a_pool_that_breaks_while_tasks_are_handed_over_is_opened_anew(found: list[Any]) -> None:
    able = next(one for one in found if hasattr(one, "compiled"))
    task = (able.name, preset_of(able, BUILD, load_board("zcu102")), 1)
    with Evaluator(packed(found), 2) as evaluator:
        (wanted,) = evaluator.run([task])
        broken = evaluator._opened()

        def submit(*_: Any) -> Any:
            raise OSError("handle is closed")

        broken.submit = submit  # type: ignore[assignment]
        evaluator._pool = broken
        assert list(evaluator.run([task])) == [wanted]
        broken.shutdown()


def test_a_board_without_a_field_is_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "spec" / "boards"
    folder.mkdir(parents=True)
    text = (shipped.root() / "spec" / "boards" / "zcu104.toml").read_text()
    (folder / "zcu104.toml").write_text("".join(line for line in text.splitlines(True) if not line.startswith("uram")))
    monkeypatch.setattr(shipped, "root", lambda: tmp_path)
    with pytest.raises(ParameterError, match="board zcu104 lacks uram"):
        load_board("zcu104")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--batch", "0"], "--batch 0: 1 to 4096 runs"),
        (["--nsga2", "0"], "--nsga2 0: 1 to 1000000 points"),
        (["--vary", "cores=0"], "cores must be"),
        (["--vary", "cores=99"], "cores must be"),
        (["--vary", "word_bits=20"], "word_bits must be at least"),
        (["--results", "/nowhere/at/all.sqlite"], "unable to open database file"),
    ],
)
def test_the_command_line_says_what_is_wrong(tmp_path: Path, arguments: list[str], words: str) -> None:
    file = tmp_path / "kernel.py"
    file.write_text(
        "import numpy as np\nimport ringsmith as rs\n\n@rs.kernel(x=rs.Encrypted(8, bound=1.0), tolerance=1e-3)\n"
        "def energy(x):\n    return np.sum(x * x)\n"
    )
    small = [part for setting in FEW for part in ("--vary", setting)]
    command = [sys.executable, "-m", "ringsmith", "explore", str(file), "--board", "zcu102", "--jobs", "1", *small]
    if "--results" not in arguments:
        command += ["--results", ":memory:"]
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, check=False)
    assert (done.returncode, words in done.stderr) == (2, True), done.stderr
    assert "Traceback" not in done.stderr
