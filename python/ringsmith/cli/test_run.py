# SPDX-License-Identifier: Apache-2.0
"""`ringsmith run` and `ringsmith params` as processes: output, exit status, errors in one line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ringsmith.runtime.inputs import read_table

KERNEL = '''
import numpy as np
import ringsmith as rs
from weights import WEIGHTS


@rs.kernel(name="score", x=rs.Encrypted(None, 4, bound=2.0), tolerance=1e-3)
def score(x):
    """A weighted sum of each row."""
    return x @ WEIGHTS


@rs.kernel(name="score", variant="columns", x=rs.Encrypted(None, 4, bound=2.0, packing="columns"), tolerance=1e-3)
def columns(x):
    """The same without rotations."""
    return x @ WEIGHTS


@rs.kernel(name="off", x=rs.Encrypted(4, bound=2.0), tolerance=1e-3, reference=lambda x: x + 1)
def off(x):
    """Wrong on purpose."""
    return x + 1.5


@rs.kernel(name="toy", x=rs.Encrypted(2, bound=1.0), tolerance=1.0, params="zynq-toy")
def toy(x):
    """An insecure set."""
    return x + 1


@rs.kernel(name="broken", x=rs.Encrypted(4, bound=2.0))
def broken(x):
    """A mistake in an operation."""
    return x + np.ones(3)
'''


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    (tmp_path / "weights.py").write_text("WEIGHTS = [1.0, -0.5, 0.25, 2.0]\n")
    path = tmp_path / "score.py"
    path.write_text(KERNEL)
    return path


def ringsmith(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "ringsmith", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def facts(*arguments: str | Path) -> Any:
    done = ringsmith(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_run_json(kernel: Path) -> None:
    report = facts("run", kernel, "--seed", "5")
    assert report["kernel"] == "score"
    assert report["engine"] == "cpu"
    assert report["scheme"] == "ckks"
    wanted = ["n", "log2_q", "log2_p", "moduli", "moduli_bits", "log2_scale", "security_bits", "security_source"]
    assert set(wanted) <= set(report["params"])
    assert report["operations"]["linear_transform"] == 1
    assert report["operations"]["key_switch"] == 3
    assert report["variants"]["columns"]["key_switch"] == 0
    assert report["correct"] is True
    assert report["max_abs_error"] <= report["guarantee"] <= report["tolerance"] == 1e-3
    assert set(report["time_ms"]) == {"inputs", "clear", "compile", "keygen", "encrypt", "evaluate", "decrypt"}
    assert set(report["bytes"]) == {"ciphertexts_in", "ciphertexts_out", "keys"}
    assert sum(report["params"]["moduli_bits"]) <= report["params"]["log2_qp"] + len(report["params"]["moduli"])


def test_what_a_kernel_file_prints_stays_off_stdout(kernel: Path) -> None:
    chatty = kernel.with_name("chatty.py")
    chatty.write_text("print('loading')\n" + kernel.read_text())
    assert facts("run", chatty)["correct"]


def test_seed_gives_the_same_bytes(kernel: Path) -> None:
    digests = [facts("run", kernel, "--seed", seed)["output_sha256"] for seed in ("5", "5", "6")]
    assert digests[0] == digests[1] != digests[2]


def test_a_seed_on_a_file_of_data_warns_in_a_line(kernel: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "rows.npy", np.ones((3, 4)))
    made_up = ringsmith("run", kernel, "--seed", "5")
    real = ringsmith("run", kernel, "--seed", "5", "--input", tmp_path / "rows.npy")
    lines = [[line for line in done.stderr.splitlines() if "warning" in line.lower()] for done in (made_up, real)]
    assert lines[0] == []
    assert [line.startswith("warning: --seed with --input") for line in lines[1]] == [True]
    assert real.returncode == 0


def test_run_table_variant_and_input(kernel: Path, tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("a,b,c,d\n1,1,1,1\n0,0.5,-1,2\n")
    done = ringsmith("run", kernel, "--variant", "columns", "--input", file)
    assert done.returncode == 0, done.stderr
    assert "columns (run)" in done.stdout
    assert "correct on cpu" in done.stdout
    assert "parameters of score" in done.stderr
    np.save(tmp_path / "rows.npy", np.ones((3, 4)))
    assert facts("run", kernel, "--input", f"x={tmp_path / 'rows.npy'}")["output_shape"] == [3]


@pytest.mark.parametrize("suffix", [".csv", ".npy"])
def test_output_file(kernel: Path, tmp_path: Path, suffix: str) -> None:
    np.save(tmp_path / "rows.npy", np.eye(4))
    target = tmp_path / f"result{suffix}"
    assert facts("run", kernel, "--input", tmp_path / "rows.npy", "--output", target)["correct"]
    np.testing.assert_allclose(read_table(target).reshape(-1), [1.0, -0.5, 0.25, 2.0], atol=1e-3)
    assert {path.name for path in tmp_path.iterdir() if path.suffix in ("", ".tmp")} <= {"__pycache__"}


def test_wrong_answer_exits_1(kernel: Path) -> None:
    done = ringsmith("run", kernel, "--kernel", "off")
    assert done.returncode == 1
    assert "WRONG" in done.stdout


def test_params(kernel: Path) -> None:
    text = ringsmith("params", kernel).stdout
    for expected in ("parameters of score", "security", "ePrint 2024/463", "why", "alternatives"):
        assert expected in text
    strict, usual = facts("params", kernel, "--security", "256"), facts("params", kernel)
    assert facts("run", kernel, "--security", "256")["params"]["n"] == strict["params"]["n"]
    assert strict["params"]["n"] > usual["params"]["n"]
    assert usual["depth"] == 1
    assert usual["rotations"] == [1, 2, 3]
    assert len(usual["alternatives"]) == 3


def test_insecure_set_needs_the_opt_in(kernel: Path) -> None:
    refused = ringsmith("run", kernel, "--kernel", "toy")
    assert refused.returncode == 2
    assert "--allow-insecure" in refused.stderr
    allowed = ringsmith("run", kernel, "--kernel", "toy", "--allow-insecure")
    assert allowed.returncode == 0, allowed.stderr
    assert "INSECURE, allowed by opt-in" in allowed.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "missing.py"], "no such file"),
        (["run", "data.csv"], "a kernel (.py) or a program"),
        (["run", "empty.py"], "defines no kernel"),
        (["run", "syntax.py"], "syntax.py:1"),
        (["run", "raises.py"], "raises.py:2: ZeroDivisionError"),
        (["run", "score.py", "--kernel", "x"], "no kernel 'x'"),
        (["run", "score.py", "--variant", "x"], "no variant 'x'"),
        (["run", "score.py", "--on", "gpu:x"], "no engine 'gpu:x'"),
        (["run", "score.py", "--params", "x"], "no parameter set 'x'"),
        (["run", "score.py", "--input", "data.csv"], "row 2, column 3: 'oops'"),
        (["run", "score.py", "--input", "y=data.csv"], "no argument 'y'"),
        (["run", "score.py", "--input", "narrow.csv"], "shape (1, 2)"),
        (["run", "score.py", "--encrypt", "both"], "--encrypt both: public, extended, secret"),
        (["run", "score.py", "--output", "result.pdf"], "unknown kind of file"),
        (["run", "score.py", "--output", "nowhere/result.csv"], "no such folder"),
        (["params", "score.py", "--security", "100"], "security=100"),
    ],
)
def test_bad_input_exits_2_with_one_line(kernel: Path, arguments: list[str], words: str) -> None:
    folder = kernel.parent
    files = {
        "data.csv": "1,2,3,4\n1,2,oops,4\n",
        "narrow.csv": "1,2\n",
        "empty.py": "x = 1\n",
        "syntax.py": "def (:\n",
        "raises.py": "x = 0\n1 / x\n",
    }
    for name, content in files.items():
        (folder / name).write_text(content)
    placed = [str(folder / part) if (folder / part).is_file() or part == "missing.py" else part for part in arguments]
    placed = [f"y={folder / 'data.csv'}" if part == "y=data.csv" else part for part in placed]
    done = ringsmith(*placed)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stderr.startswith("error: ")
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""


def test_a_mistake_in_the_kernel_shows_the_line_and_a_caret(kernel: Path) -> None:
    done = ringsmith("run", kernel, "--kernel", "broken")
    assert done.returncode == 2
    message, source, caret = done.stderr.splitlines()
    assert message.startswith(f"error: {kernel}:")
    assert "shapes (4,) and (3,)" in message
    assert source.strip() == "return x + np.ones(3)"
    assert caret.strip() == "^" * len("x + np.ones(3)")


def test_help_has_examples() -> None:
    for verb in ("run", "params"):
        done = ringsmith(verb, "--help")
        assert done.returncode == 0
        assert f"ringsmith {verb} examples/kernels/" in done.stdout
