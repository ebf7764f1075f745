# SPDX-License-Identifier: Apache-2.0
"""The wheel beside pinned packages, and beside the oldest and the newest that its metadata allow."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

ENDS = ("oldest", "newest")
PINNED = Path(__file__).parents[1] / "requirements" / "core.txt"
NO_NETWORK = re.compile(r"NewConnectionError|NameResolutionError|Temporary failure|ReadTimeout|Network is unreachable")
KERNEL = """
import ringsmith as rs
@rs.kernel(x=rs.Encrypted(8, bound=1.0), tolerance=1e-4)
def square(x):
    return x * x
"""
MODELS = """
import numpy as np, ringsmith as rs
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
x, y = load_iris(return_X_y=True)
model = rs.from_sklearn(LogisticRegression(max_iter=500).fit(x, y), x)
assert model.compare(x[::30], y[::30]).difference < 1e-3
import onnx, onnx.helper as h
graph = h.make_graph(
    [h.make_node("Gemm", ["x", "w"], ["y"])], "g", [h.make_tensor_value_info("x", 1, ["n", 4])],
    [h.make_tensor_value_info("y", 1, ["n", 2])],
    [h.make_tensor("w", 1, [4, 2], np.arange(8, dtype=np.float32))],
)
onnx.save(h.make_model(graph, ir_version=10, opset_imports=[h.make_opsetid("", 17)]), "gemm.onnx")
scores = rs.from_onnx("gemm.onnx", x)(x[::30])
assert np.allclose(scores, x[::30] @ np.arange(8).reshape(4, 2), atol=1e-2)
"""
SERVED = """
import subprocess, sys, time, numpy as np, ringsmith as rs
subprocess.run(["ringsmith", "serve", "--store", "store", "--add-tenant", "alice", "--key-file", "key"], check=True)
server = subprocess.Popen(["ringsmith", "serve", "--store", "store", "--socket", "s", "--workers", "1"])
try:
    while True:
        try:
            remote = rs.connect("unix://" + sys.argv[1] + "/s", open("key").read())
            break
        except rs.RemoteError:
            time.sleep(0.2)
    from kernel import square
    x = np.linspace(-1, 1, 8)
    assert np.allclose(square.on(remote)(x), x * x, atol=1e-4)
finally:
    server.terminate()
    server.wait()
"""
CLUSTER = """
import subprocess
from ray.cluster_utils import Cluster
made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "object_store_memory": 100 << 20})
search = ["ringsmith", "explore", "kernel.py", "--board", "zcu104", "--results", ":memory:", "--ray", made.address]
try:
    subprocess.run([*search, "--vary", "lanes=4", "--vary", "butterflies=4"], check=True)
finally:
    made.shutdown()
"""
COMPRESSED = """
import zstandard
from ringsmith.interchange.seal_container import opened, sealed
data = bytearray(sealed(zstandard.ZstdCompressor().compress(b"ringsmith" * 1000)))
data[5] = 2  # the header says: zstd
assert bytes(opened(data).data) == b"ringsmith" * 1000
"""


def bounds(wheel: Path, extras: str, end: str) -> list[str]:
    """Constraints that select versions: the pinned ones, the lower bound of each direct dependency, or nothing."""
    if end == "newest":
        return []
    if end == "pinned":
        return re.findall(r"^\S+==\S+", PINNED.read_text(), re.M)
    (metadata,) = [name for name in zipfile.ZipFile(wheel).namelist() if name.endswith(".dist-info/METADATA")]
    text = zipfile.ZipFile(wheel).read(metadata).decode()
    wanted = [
        (line, extra)
        for line, extra in re.findall(r"^Requires-Dist: ([^;\n]+)(?:;.*extra == ['\"](\w+)['\"])?", text, re.M)
        if not extra or extra in extras.split(",")
    ]
    return [re.sub(r"^([\w.-]+).*?>=([\w.]+).*$", r"\1==\2", line.replace(" ", "")) for line, _ in wanted]


Shell = Callable[..., subprocess.CompletedProcess[str]]


def environment(place: Path, wheel: Path, extra: str, end: str) -> Shell:
    """Install the wheel with an extra in an empty environment; return what runs a command there."""
    if end == "oldest" and sys.version_info >= (3, 13):
        pytest.skip("the oldest versions have no wheels for this Python")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place / "venv"], check=True)
    (place / "bounds.txt").write_text("\n".join(bounds(wheel, extra, end)))
    what = f"{wheel}[{extra}]" if extra else str(wheel)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", place / "venv"]
    done = subprocess.run(
        [*pip, "install", "--quiet", "--only-binary", ":all:", "-c", place / "bounds.txt", what],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if NO_NETWORK.search(done.stderr):
        pytest.skip("no package registry can be reached")
    assert done.returncode == 0, done.stderr
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "RINGSMITH", "VIRTUAL"))
    }
    kept |= {"PATH": f"{place / 'venv' / 'bin'}:{os.environ['PATH']}", "XDG_CACHE_HOME": str(place / "cache")}
    (place / "kernel.py").write_text(KERNEL)

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(words, cwd=place, env=kept, capture_output=True, text=True, check=False)

    return run


# Pinned packages are those of this environment, so that none has to be fetched.
@pytest.mark.parametrize("end", ["pinned", *(pytest.param(end, marks=pytest.mark.slow) for end in ENDS)])
def test_the_command_line_with_the_core_alone(wheel: Path, tmp_path: Path, end: str) -> None:
    run = environment(tmp_path, wheel, "", end)
    for words, status, printed in (
        (["run", "kernel.py"], 0, "correct on cpu"),
        (["run", "--help"], 0, "Usage: ringsmith run"),
        (["params", "kernel.py", "--json"], 0, "{"),
        (["help", "python"], 0, "# Python"),
        (["--version"], 0, "ringsmith "),
        ([], 2, "Usage"),
        (["run"], 2, "Missing argument"),
        (["frobnicate"], 2, "No such command"),
        (["run", "none.py"], 2, "none.py"),
        (["serve", "--store", "s"], 2, "pip install 'ringsmith[serve]'"),
        (["generate", "tiny", "-o", "package"], 2, "pip install 'ringsmith[hw]'"),
        (["synth", "tiny"], 2, "pip install 'ringsmith[hw]'"),
    ):
        done = run("ringsmith", *words)
        assert (done.returncode, printed in done.stdout + done.stderr) == (status, True), (words, done)
        assert "Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("end", ENDS)
def test_models(wheel: Path, tmp_path: Path, end: str) -> None:
    done = environment(tmp_path, wheel, "models", end)("python", "-c", MODELS)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("end", ENDS)
def test_server_and_client(wheel: Path, tmp_path: Path, end: str) -> None:
    done = environment(tmp_path, wheel, "serve,remote", end)("python", "-c", SERVED, str(tmp_path))
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("end", ENDS)
def test_searches_clusters_and_compressed_bytes(wheel: Path, tmp_path: Path, end: str) -> None:
    run = environment(tmp_path, wheel, "search,ray,seal", end)
    for words in (
        ("ringsmith", "explore", "kernel.py", "--board", "zcu104", "--nsga2", "4", "--results", ":memory:"),
        ("python", "-c", CLUSTER),
        ("python", "-c", COMPRESSED),
    ):
        done = run(*words)
        assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.hw
@pytest.mark.parametrize("end", ENDS)
def test_hardware(wheel: Path, tmp_path: Path, end: str) -> None:
    run = environment(tmp_path, wheel, "hw", end)
    for words in (["generate", "tiny", "-o", "package"], ["simulate", "tiny", "ntt"], ["synth", "tiny"]):
        done = run("ringsmith", *words)
        assert done.returncode == 0, done.stderr
