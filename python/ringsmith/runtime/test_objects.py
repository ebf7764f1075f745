# SPDX-License-Identifier: Apache-2.0
"""Programs, keys, arguments, results and clients as files: other processes, other kernels, damaged bytes."""

from __future__ import annotations

import json
import os
import pickle
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ringsmith as rs
from ringsmith.cli.common import load_kernels
from ringsmith.cli.params import compiled
from ringsmith.errors import FormatError, InputError, KeyMismatchError, ParameterError, RingsmithError

KERNELS = sorted(
    path
    for path in (Path(__file__).parents[3] / "examples" / "kernels").glob("*.py")
    if "@rs.kernel" in path.read_text()
)

# A process that has the files and nothing of the kernel.
RUN = """
import json, sys
import ringsmith as rs
from ringsmith.runtime.runner import run_program
answers = {}
for path in sys.argv[2:]:
    report = run_program(rs.load(path), seed="files", engine=sys.argv[1])
    answers[path] = [report.correct, report.digest, report.max_abs_error]
assert not [name for name in sys.modules if name.startswith("ringsmith_kernel")]
print(json.dumps(answers))
"""
SERVE = """
import sys, numpy as np, ringsmith as rs
program, keys, sent, answer = sys.argv[1:]
server = rs.load(program).server(rs.load(keys))
server.evaluate(rs.load(sent), w=np.arange(4.0)).save(answer)
"""


@rs.kernel(x=rs.Encrypted(2, 4, bound=1.0), w=rs.Plain(4, bound=4.0), tolerance=1e-3)
def score(x: Any, w: Any) -> Any:
    return (x @ w) ** 2 + 0.25


@rs.kernel(x=rs.Encrypted(8, low=-50, high=50), w=rs.Plain(8, low=-9, high=9), scheme="bfv")
def votes(x: Any, w: Any) -> Any:
    return (x * w - 3) * x


def in_process(code: str, *arguments: Any, timeout_s: float = 600) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout_s,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("kernel", [score, votes], ids=["ckks", "bfv"])
def test_a_program_reads_back_as_the_same_bytes(kernel: rs.Kernel, tmp_path: Path) -> None:
    program = kernel.compile()
    path = tmp_path / "p.rsp"
    program.save(path)
    again = rs.load(path)
    assert isinstance(again, rs.Program)
    assert again.to_bytes() == program.to_bytes() == path.read_bytes()
    assert again.identity == program.identity
    assert again.signature.arguments == program.signature.arguments
    assert again.counts == program.counts
    assert again.noise_bits == program.noise_bits
    assert "noise budget" in again.box() or "error below" in again.box()
    assert pickle.loads(pickle.dumps(program)).to_bytes() == program.to_bytes()


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> dict[str, rs.Program]:
    """The nine kernels' programs, by the files that hold them."""
    assert len(KERNELS) == 9
    folder, programs = tmp_path_factory.mktemp("programs"), {}
    for path in KERNELS:
        program = compiled(load_kernels(path).pick(None, None), {})
        assert isinstance(program, rs.Program)
        program.save(folder / f"{path.stem}.rsp")
        programs[str(folder / f"{path.stem}.rsp")] = program
    return programs


def test_every_kernel_runs_from_its_file_in_a_process_without_it(saved: dict[str, rs.Program]) -> None:
    answers = json.loads(in_process(RUN, "cpu", *saved))
    assert all(correct for correct, _, _ in answers.values()), answers
    # The same seed gives the same bytes in the process that compiled it, and on a co-processor.
    name, program = next(iter(saved.items()))
    from ringsmith.runtime.runner import run_program

    assert run_program(program, seed="files").digest == answers[name][1]
    own = {name: answers[name] for name in sorted(saved, key=lambda name: Path(name).stat().st_size)[:2]}
    assert json.loads(in_process(RUN, "model:cofhee", *own)) == own


@pytest.mark.slow
def test_every_kernel_runs_from_its_file_on_the_model(saved: dict[str, rs.Program]) -> None:
    answers = json.loads(in_process(RUN, "cpu", *saved))
    assert json.loads(in_process(RUN, "model:cofhee", *saved)) == answers


@pytest.mark.hw
@pytest.mark.slow
@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_every_kernel_runs_from_its_file_on_the_rtl(path: Path, tmp_path: Path) -> None:
    """Our variant where there is one: the published ones' products of single values are days of simulation."""
    kernels = load_kernels(path)
    published = kernels.pick(None, None)
    program = compiled(kernels.others(published).get("ours", published), {})
    program.save(tmp_path / "p.rsp")
    on_rtl, here = (
        json.loads(in_process(RUN, engine, tmp_path / "p.rsp", timeout_s=3600)) for engine in ("rtl:cofhee", "cpu")
    )
    assert on_rtl == here
    assert all(correct for correct, _, _ in here.values())


def test_client_and_server_share_files_only(tmp_path: Path) -> None:
    program = score.compile()
    client = program.client()
    x = np.linspace(-1, 1, 8).reshape(2, 4)
    files: dict[str, Any] = {"p": program, "k": client.evaluation_keys, "x": client.encrypt(x=x), "c": client}
    for name, what in files.items():
        what.save(tmp_path / name)
    in_process(SERVE, *(tmp_path / name for name in ("p", "k", "x", "answer")))
    again = rs.load(tmp_path / "c")
    assert isinstance(again, rs.Client)
    expected = (x @ np.arange(4.0)) ** 2 + 0.25
    for one in (client, again):
        assert np.abs(one.decrypt(rs.load(tmp_path / "answer")) - expected).max() < 1e-3
    # The client read back encrypts too, with randomness of its own.
    assert again.encrypt(x=x).ciphertexts != client.encrypt(x=x).ciphertexts


def test_a_client_file_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "client"
    path.touch(mode=0o644)
    votes.compile().client().save(path)
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600


def test_objects_of_other_programs_and_roles_are_refused(tmp_path: Path) -> None:
    program, other = score.compile(), votes.compile()
    client, stranger = program.client(), other.client()
    stranger.evaluation_keys.save(tmp_path / "k")
    with pytest.raises(KeyMismatchError, match="differs in kernel, parameters"):
        program.server(rs.load(tmp_path / "k"))
    client.public_key.save(tmp_path / "pk")
    with pytest.raises(InputError, match="takes the evaluation keys"):
        program.server(rs.load(tmp_path / "pk"))
    with pytest.raises(InputError, match="this is the public key"):
        rs.Keys.from_bytes((tmp_path / "pk").read_bytes())
    with pytest.raises(InputError, match="only a program's parameters are judged"):
        rs.load(tmp_path / "pk", security=192)
    (tmp_path / "secret").write_bytes(client.secret_key)
    with pytest.raises(InputError, match="secret key; programs, keys"):
        rs.load(tmp_path / "secret")
    program.save(tmp_path / "p")
    with pytest.raises(ParameterError, match="192"):
        rs.load(tmp_path / "p", security=192)


def test_damaged_files_are_refused_in_a_line(tmp_path: Path) -> None:
    client = score.compile().client()
    path = tmp_path / "damaged"
    rng = np.random.default_rng(5)
    for made in (score.compile().to_bytes(), client.evaluation_keys.to_bytes(), client.to_bytes()):
        for place in [0, 4, 6, 8, 24, 31, *rng.integers(32, len(made), 40).tolist()]:
            broken = bytearray(made)
            broken[place] ^= 1 << int(rng.integers(8))
            path.write_bytes(broken)
            with pytest.raises(RingsmithError) as refused:
                rs.load(path)
            assert "\n" not in str(refused.value)
        for cut in (0, 31, 40, len(made) // 2, len(made) - 1):
            path.write_bytes(made[:cut])
            with pytest.raises(FormatError):
                rs.load(path)
    with pytest.raises(InputError, match="no such file"):
        rs.load(tmp_path / "nothing")
    with pytest.raises(InputError, match="a folder"):
        rs.load(tmp_path)


def test_a_clear_run_is_the_programs_own(tmp_path: Path) -> None:
    x, w = np.arange(-4, 4), np.arange(8)
    assert votes.compile().clear(x=x, w=w).tolist() == ((x * w - 3) * x).tolist()
    reals = score.compile().clear(x=np.full((2, 4), 0.5), w=np.ones(4))
    assert np.allclose(reals, 4.25)
    with pytest.raises(InputError, match="outside the declared"):
        votes.compile().clear(x=x * 1000, w=w)
    with pytest.raises(InputError, match="takes the encrypted arguments x"):
        votes.compile().clear(w=w)
