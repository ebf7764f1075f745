# SPDX-License-Identifier: Apache-2.0
"""ResNet-20's shape on encrypted images of 32 x 32 pixels in three channels: 21 convolutions, 19 activations.

    python bench/resnet20.py                                     # reads, compiles, tells what a run takes
    python bench/resnet20.py --run 1 --threads 2                 # encrypts and evaluates an image as well
    python bench/resnet20.py --run 100 --state build/hundred     # a hundred; the same command goes on after a kill
    python bench/resnet20.py --onnx FILE --images FILE.npy       # a network and images (count, channels, y, x) of yours
    python bench/resnet20.py --side 8 --channels 1 --widths 4 8 --blocks 1      # a small one

The network of He, Zhang, Ren, Sun (CVPR 2016): a convolution, three stages of three blocks with 16, 32, 64 channels,
strides of two and 1 x 1 convolutions in the shortcuts of the second and third stage, the average of each channel, ten
scores. The images are scikit-learn's digits, upsampled. In this shape and with SiLU its weights are those of
`bench/resnet20.npz`, all of whose layers `bench/resnet20_training.py` trained. In other shapes they are made here in
half a minute: convolutions are drawn at random and normalised on the training images, as batch normalisation does, and
the last layer is fitted to their features by scikit-learn; what such a network gets right is little (`clear_accuracy`),
the share of answers that are those of the network in the clear is what is measured (`agreement`).
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import figures
import numpy as np
import numpy.typing as npt
from onnx import TensorProto, helper, numpy_helper
from resnet20_server import peak

Array = npt.NDArray[np.float64]
WEIGHTS = Path(__file__).parent / "resnet20.npz"
#: Training images that a drawn network is normalised on, and those that are tried: no training has seen them.
TRAINED, TRIED, FIRST_TRIED = 400, 100, 1400
#: Of the training images, those that ranges are measured on.
MEASURED = 100
#: Of the keys and ciphertexts of a run that may go on after it was killed: no secret.
SEED = b"bench/resnet20.py: no secret seed"[:32]
#: Of what client and server send each other.
FOLDER = Path(__file__).resolve().parents[1] / "build" / "resnet20"
#: Scores are at most 1 / _ROOM on the training images.
_ROOM = 8.0


@dataclass(frozen=True)
class Shape:
    """A residual network: pixels of a side, channels of the image, of each stage, blocks of a stage."""

    side: int = 32
    given: int = 3
    widths: tuple[int, ...] = (16, 32, 64)
    blocks: int = 3


def images_of(shape: Shape) -> tuple[Array, npt.NDArray[np.int64]]:
    """Return digits as images (count, channels, side, side) in [0, 1], and which they are."""
    from sklearn.datasets import load_digits  # type: ignore[import-untyped]

    pixels, digits = load_digits(return_X_y=True)
    step = shape.side // 8
    large = np.kron(pixels.reshape(-1, 1, 8, 8) / 16.0, np.ones((step, step)))
    tints = np.linspace(1.0, 0.5, shape.given)[:, None, None]
    return large * tints, digits


class Network:
    """Writes nodes and computes them on the training images, so that a layer is normalised by what it gives."""

    def __init__(self, images: Array, activation: str, trained: Mapping[str, Any] | None = None) -> None:
        """Begin with the training images; `trained`: the weights as `bench/resnet20_training.py` writes them."""
        self.nodes: list[Any] = []
        self.held: list[Any] = []
        self.values: dict[str, Array] = {"image": images}
        self.activation = activation
        self.trained = trained
        self._random = np.random.default_rng(20)

    def add(self, kind: str, given: list[str], name: str, value: Array, **attributes: Any) -> str:
        """Write a node that gives a value."""
        self.nodes.append(helper.make_node(kind, given, [name], name=name, **attributes))
        self.values[name] = value
        return name

    def constant(self, name: str, value: Any) -> str:
        """Write a constant."""
        self.held.append(numpy_helper.from_array(np.ascontiguousarray(value, dtype=np.float64), name))
        return name

    def convolution(self, given: str, name: str, made: int, size: int, stride: int) -> str:
        """Write a convolution: trained, or of channels that have mean 0 and variance 1 on the training images."""
        weights, bias, value = self._weights(self.values[given], name, (made, size, stride))
        names = [given, self.constant(f"{name}.weight", weights), self.constant(f"{name}.bias", bias)]
        return self.add("Conv", names, name, value, strides=[stride] * 2, pads=[size // 2] * 4)

    def _weights(self, x: Array, name: str, shape: tuple[int, int, int]) -> tuple[Array, Array, Array]:
        """Return a convolution's weights and shifts, and what it makes of x."""
        made, size, stride = shape
        if self.trained is not None:
            each = np.asarray(self.trained[f"{name}.each"], dtype=np.float64)
            weights = self.trained[f"{name}.weight"] * each[:, None, None, None]
            bias = np.asarray(self.trained[f"{name}.bias"], dtype=np.float64)
            return weights, bias, convolved(x, weights, stride) + bias[:, None, None]
        weights = self._random.normal(size=(made, x.shape[1], size, size)) / np.sqrt(x.shape[1] * size * size)
        y = convolved(x, weights, stride)
        mean, spread = y.mean(axis=(0, 2, 3)), y.std(axis=(0, 2, 3)) + 1e-6
        value = (y - mean[:, None, None]) / spread[:, None, None]
        return weights / spread[:, None, None, None], -mean / spread, value

    def activated(self, given: str, name: str) -> str:
        """Write an activation: ReLU, SiLU, or x + x^2 / 8, as a network is trained with for low degree."""
        x = self.values[given]
        if self.activation == "relu":
            return self.add("Relu", [given], name, np.maximum(x, 0))
        if self.activation == "silu":
            gate = self.add("Sigmoid", [given], f"{name}.gate", 1 / (1 + np.exp(-x)))
            return self.add("Mul", [given, gate], name, x * self.values[gate])
        # x + x^2 / 8 = (x + 4)^2 / 8 - 2: shift, factor and constant belong to the layers around the square.
        moved = self.add("Add", [given, self.constant(f"{name}.shift", 4.0)], f"{name}.moved", x + 4)
        square = self.add("Mul", [moved, moved], f"{name}.square", (x + 4) ** 2)
        less = self.add(
            "Sub", [square, self.constant(f"{name}.least", 16.0)], f"{name}.less", self.values[square] - 16.0
        )
        return self.add("Mul", [less, self.constant(f"{name}.part", 0.125)], name, self.values[less] / 8)

    def block(self, given: str, name: str, made: int, stride: int) -> str:
        """Write a block of two convolutions and a shortcut."""
        inner = self.activated(self.convolution(given, f"{name}.first", made, 3, stride), f"{name}.inner")
        last = self.convolution(inner, f"{name}.second", made, 3, 1)
        if self.values[given].shape != self.values[last].shape:
            given = self.convolution(given, f"{name}.shortcut", made, 1, stride)
        total = self.add("Add", [last, given], f"{name}.sum", self.values[last] + self.values[given])
        return self.activated(total, f"{name}.out")


def convolved(x: Array, weights: Array, stride: int) -> Array:
    """Return a convolution that keeps an image's size, but for its stride."""
    size = weights.shape[2]
    edge = size // 2
    padded = np.pad(x, ((0, 0), (0, 0), (edge, edge), (edge, edge)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (size, size), (2, 3))[:, :, ::stride, ::stride]
    return np.asarray(np.einsum("nchwij,ocij->nohw", windows, weights, optimize=True))


def trunk(made: Network, shape: Shape) -> str:
    """Write all that stands before the average of each channel."""
    last = made.activated(made.convolution("image", "stem", shape.widths[0], 3, 1), "stem.out")
    for stage, width in enumerate(shape.widths):
        for number in range(shape.blocks):
            last = made.block(last, f"stage{stage}.{number}", width, 2 if stage and not number else 1)
    return last


def network(shape: Shape, activation: str) -> tuple[Any, Array, Array, npt.NDArray[np.int64]]:
    """Return the network as ONNX, as PyTorch would export it, images it was trained with, and others with their
    digits."""
    images, digits = images_of(shape)
    known = np.load(WEIGHTS) if shape == Shape() and activation == "silu" else None
    made = Network(images[:TRAINED], activation, known)
    last = trunk(made, shape)
    features = made.values[last].mean(axis=(2, 3))
    last = made.add("GlobalAveragePool", [last], "average", features[:, :, None, None])
    last = made.add("Flatten", [last], "features", features)
    if known is None:
        weights, shifts = _fitted(features, digits[:TRAINED])
    else:
        weights, shifts = known["dense"].astype(np.float64), known["dense.shift"].astype(np.float64)
    scores = features @ weights + shifts
    # Small scores: the first prime of a set has to hold what its bounds say.
    less = 1 / (_ROOM * np.abs(scores).max())
    names = [last, made.constant("scores.weight", weights * less), made.constant("scores.bias", shifts * less)]
    made.add("Gemm", names, "scores", scores * less)
    ends = [("image", ["N", shape.given, shape.side, shape.side]), ("scores", ["N", 10])]
    given, found = (helper.make_tensor_value_info(name, TensorProto.DOUBLE, own) for name, own in ends)
    graph = helper.make_graph(made.nodes, "residual", [given], [found], made.held)
    tried = slice(FIRST_TRIED, FIRST_TRIED + TRIED)
    whole = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    return whole, images[:MEASURED], images[tried], digits[tried]


def _fitted(features: Array, digits: npt.NDArray[np.int64]) -> tuple[Array, Array]:
    """Return a last layer fitted to features."""
    from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]

    fitted = LogisticRegression(max_iter=2000, C=10.0).fit(features, digits)
    return fitted.coef_.T, fitted.intercept_


@dataclass(frozen=True)
class Task:
    """A network with its images, and how it is compiled."""

    source: Any
    trained: Array
    images: Array
    digits: npt.NDArray[np.int64] | None
    options: dict[str, Any]


def run(task: Task, images: int, threads: int, state: Path | None = None) -> dict[str, Any]:
    """Return what was found and measured: the cost without any key made, and `images` evaluations if asked for."""
    import ringsmith as rs
    from ringsmith.models.typical import SAFETY

    start = time.perf_counter()
    model = rs.from_onnx(task.source, task.trained, classes=list(range(10)), domain=(0, 1), **task.options)
    read = time.perf_counter() - start
    start = time.perf_counter()
    cost = model.cost()
    compiled = time.perf_counter() - start
    clear = model.clear(task.images)
    found: dict[str, Any] = {
        "entries": model.entries,
        "read_seconds": read,
        "compile_seconds": compiled,
        "peak_compile_bytes": peak(),
        **cost.to_json(),
        "polynomials_agree": float(
            np.mean(model.clear(task.images, polynomial=True).argmax(axis=1) == clear.argmax(axis=1))
        ),
    }
    if task.options["inner_error"] is not None:
        # The largest errors that the compiler accepts.
        scores = simulated(model, task.images, task.options["inner_error"] / SAFETY)
        found["simulated_agreement"] = float(np.mean(scores.argmax(axis=1) == clear.argmax(axis=1)))
    if task.digits is not None:
        found["clear_accuracy"] = float(np.mean(clear.argmax(axis=1) == task.digits))
    print(cost, file=sys.stderr)
    return found | (_evaluated(model, task.images[:images], threads, state) if images else {})


def simulated(model: Any, images: Array, error: float) -> Array:
    """Return scores in the clear, with random errors up to `error` of the extent before and after each activation."""
    from ringsmith.models.network import Activation, evaluate

    random = np.random.default_rng(7)

    def activated(value: Activation, argument: Array) -> Array:
        fitted = model.calibration[value.layer]
        most = error * (fitted.high - fitted.low)
        made = fitted.values(argument + random.uniform(-most, most, argument.shape))
        return np.asarray(made + random.uniform(-most, most, argument.shape))

    return np.asarray(evaluate(model.result, images.reshape(len(images), -1), activated))


def _served(folder: Path, program: Any, threads: int, resume: bool) -> dict[str, Any]:
    """Evaluate what is in a folder in a process of its own, the server; return its report."""
    command = [
        sys.executable,
        str(Path(__file__).parent / "resnet20_server.py"),
        str(folder),
        "--threads",
        str(threads),
    ]
    command += ["--resume"] * resume + ["--allow-insecure"] * (not program.params.security.enough)
    done = subprocess.run(command, check=False)
    if done.returncode:
        again = f"; the same command goes on from {folder}" if done.returncode < 0 and resume else ""
        raise SystemExit(f"the server ended with status {done.returncode}{again}")
    report: dict[str, Any] = json.loads((folder / "report.json").read_text())
    return report


def _sent(folder: Path, program: Any, messages: list[Array], seed: bytes | None, told: Connection) -> None:
    """Make keys and ciphertexts into files of a folder, in a process of its own: what keys take while they are made is
    free when the server begins. Tells what decrypts, and what it took."""
    start = time.perf_counter()
    client = program.client(seed=seed, sample_data=True)
    seconds = time.perf_counter() - start
    print(f"keys made in {seconds:.1f} s", file=sys.stderr, flush=True)
    client.evaluation_keys.save(folder / "keys")
    for number, message in enumerate(messages):
        client.encrypt(x=message).save(folder / f"sent-{number}")
    state = client.__getstate__() | {"program": None, "keys": None}
    told.send((state, {"key_seconds": seconds, "client_peak_bytes": peak()}))


def _client(folder: Path, program: Any, messages: list[Array], seed: bytes | None) -> tuple[Any, dict[str, Any]]:
    """Return a client that decrypts what becomes of messages that lie in a folder, encrypted, beside its keys; and what
    it took. A folder of another program is refused."""
    from ringsmith.runtime.client import Client

    saved = folder / "program"
    if saved.exists() and saved.read_bytes() != program.to_bytes():
        print(f"--state {folder}: what is there is of another network or other options; name another", file=sys.stderr)
        raise SystemExit(2)
    program.save(saved)
    ours, theirs = multiprocessing.Pipe(duplex=False)
    made = multiprocessing.get_context("fork").Process(target=_sent, args=(folder, program, messages, seed, theirs))
    made.start()
    theirs.close()
    try:
        state, took = ours.recv()
    except EOFError:
        made.join()
        raise SystemExit(f"the client ended with status {made.exitcode} before its keys were made") from None
    made.join()
    client = Client.__new__(Client)
    client.__setstate__(state | {"program": program})
    return client, took


def _evaluated(model: Any, images: Array, threads: int, state: Path | None) -> dict[str, Any]:
    """Return what a client and a server, each a process of its own, took and found for some images. They share the
    files of a folder that is gone then, or stays and is gone on from: `state`."""
    from ringsmith.runtime.messages import Encryptions

    messages = [model.encode(image.reshape(1, -1))[0] for image in images]
    with ExitStack() as held:
        if state is None:
            FOLDER.mkdir(parents=True, exist_ok=True)
            folder = Path(held.enter_context(tempfile.TemporaryDirectory(dir=FOLDER)))
        else:
            folder = state
            folder.mkdir(parents=True, exist_ok=True)
        client, took = _client(folder, model.program, messages, SEED if state else None)
        sizes = {f"{name}_file_bytes": (folder / name).stat().st_size for name in ("program", "keys", "sent-0")}
        report = _served(folder, model.program, threads, state is not None)
        results = [Encryptions.from_bytes((folder / f"result-{number}").read_bytes()) for number in range(len(images))]
        reports = [json.loads((folder / f"report-{number}.json").read_text()) for number in range(len(images))]
    found = np.array([client.decrypt(result).reshape(-1) for result in results])
    expected = model.clear(images, polynomial=True)
    agree = found.argmax(axis=1) == model.clear(images).argmax(axis=1)
    quickest = min(reports, key=lambda each: each["seconds"])
    return {
        **took,
        **sizes,
        **{f"server_{name}": value for name, value in report.items()},
        "server_peak_bytes": max(each["peak_bytes"] for each in reports),
        "evaluation_seconds": quickest["seconds"],
        "average_seconds": float(np.mean([each["seconds"] for each in reports])),
        **{f"seconds of {kind}": own for kind, own in sorted(quickest["kinds"].items())},
        "parts": quickest["parts"],
        "error": float(np.abs(found - expected).max()),
        "extent": float(np.ptp(expected)),
        "agreement": float(np.mean(agree)),
        "correct": bool(agree.all()),
    }


def show(found: dict[str, Any]) -> None:
    """Print what was found, the parts of the last run as a table."""
    parts = found.get("parts", [])
    figures.show({name: value for name, value in found.items() if name != "parts"})
    if parts:
        print(f"{'part':>4}  {'steps':>6}  {'seconds':>8}   each but the last ends with a refresh")
    for number, part in enumerate(parts, 1):
        print(f"{number:4}  {part['steps']:6}  {part['seconds']:8.1f}")


def main() -> None:
    """Compile, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", type=int, default=0, help="how many images are encrypted and evaluated")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument(
        "--state",
        type=Path,
        help="folder of what is sent and found, which a killed run goes on from, or one of more images; keys and"
        " ciphertexts then come from a fixed seed",
    )
    parser.add_argument("--activation", choices=["relu", "silu", "square"], default="silu")
    parser.add_argument("--set", default="ckks-refreshed-65536", help="of parameters; none: the compiler chooses one")
    parser.add_argument("--degree", type=int, default=15, help="of the polynomials in place of activations")
    parser.add_argument("--sign", type=int, nargs="+", help="ReLU by a composite sign of these degrees")
    parser.add_argument("--inner-error", type=float, default=1.5e-2, help="promised around activations")
    parser.add_argument("--tolerance", type=float, default=0.09, help="of a score by its bound")
    parser.add_argument("--keys-limit", type=int, default=5_000_000_000, help="bytes of the keys that are sent")
    parser.add_argument("--memory-limit", type=int, help="bytes of an evaluation with its keys")
    parser.add_argument("--side", type=int, default=32, help="pixels, a multiple of 8")
    parser.add_argument("--channels", type=int, default=3)
    parser.add_argument("--widths", type=int, nargs="+", default=[16, 32, 64])
    parser.add_argument("--blocks", type=int, default=3, help="blocks of a stage")
    parser.add_argument("--onnx", help="a network of your own")
    parser.add_argument("--images", help="its images, .npy of (count, channels, height, width)")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if bool(given.onnx) != bool(given.images):
        parser.error("--onnx and --images belong together")
    if given.side < 8 or given.side % 8:
        parser.error(f"--side {given.side}: a multiple of 8, as the digits have 8 x 8 pixels")
    options = {
        "degree": given.degree, "sign": given.sign, "deviation": None, "inner_error": given.inner_error,
        "tolerance": given.tolerance, "guarantee": "probable", "most_entries": 1 << 26, "keys_limit": given.keys_limit,
        "memory_limit": given.memory_limit,
    } | ({} if given.set == "none" else {"params": given.set})  # fmt: skip
    if given.onnx:
        own = np.load(given.images)
        task = Task(given.onnx, own, own, None, options)
    else:
        shape = Shape(given.side, given.channels, tuple(given.widths), given.blocks)
        made, trained, images, digits = network(shape, given.activation)
        task = Task(made.SerializeToString(), trained, images, digits, options)
    found = run(task, given.run, given.threads, given.state)
    if given.json:
        print(json.dumps(found))
        return
    show(found)


if __name__ == "__main__":
    main()
