# SPDX-License-Identifier: Apache-2.0
"""LeNet-5 on encrypted images: 28 x 28, 6 filters of 5 x 5, averages, 16 of 5 x 5, averages, 120, 84, 10; squares.

    python bench/lenet5.py [--images 20] [--keys-limit 100000000] [--threads 2] [--json]

Weights and test images of `bench/lenet5.npz` (`bench/lenet5_training.py` makes it). Images are encrypted and evaluated
one by one. `seconds` is the least of an image, `error` the largest difference of an encrypted score from the network
in the clear, `agreement` the share of images with the same answer as in the clear, `accuracy_lost` the share of these
images that the network gets right in the clear less that encrypted (`--images 200` for the figure of record).
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from figures import show
from onnx import TensorProto, helper, numpy_helper

DATA = Path(__file__).parent / "lenet5.npz"
#: What is promised of a score, of an extent of 74, and of the errors before each square, as a part of its range.
TOLERANCE, INNER_ERROR = 0.15, 1e-5


def network(data: Any) -> Any:
    """Return the network as ONNX, as PyTorch would export it."""
    held, nodes, last = [], [], "image"

    def layer(kind: str, number: int, weights: Any, **attributes: Any) -> None:
        nonlocal last
        names = [f"{kind}{number}.weight", f"{kind}{number}.bias"]
        held.extend(map(numpy_helper.from_array, map(np.ascontiguousarray, weights), names))
        add(kind, [last, *names], f"{kind}{number}", **attributes)

    def add(kind: str, given: list[str], name: str, **attributes: Any) -> None:
        nonlocal last
        nodes.append(helper.make_node(kind, given, [name], name=name, **attributes))
        last = name

    for number, (before, after) in enumerate(((1, 6), (6, 16)), 1):
        weights, shifts = data[f"w{2 * number - 2}"], data[f"w{2 * number - 1}"]
        layer("Conv", number, (weights.T.reshape(after, before, 5, 5), shifts))
        add("Mul", [last, last], f"square{number}")
        add("AveragePool", [last], f"average{number}", kernel_shape=[2, 2], strides=[2, 2])
    add("Flatten", [last], "flat")
    for number in (3, 4, 5):
        layer("Gemm", number, (data[f"w{2 * number - 2}"], data[f"w{2 * number - 1}"]))
        if number < 5:
            add("Mul", [last, last], f"square{number}")
    ends = [("image", ["N", 1, 28, 28]), (last, ["N", 10])]
    given, made = (helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in ends)
    graph = helper.make_graph(nodes, "lenet5", [given], [made], held)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def run(images: int, keys_limit: int | None, threads: int) -> dict[str, Any]:
    """Return what was measured."""
    import ringsmith as rs

    data = np.load(DATA)
    pixels, digits = data["images"][:, None] / 255.0, data["digits"]
    start = time.perf_counter()
    model = rs.from_onnx(
        onnx.load_from_string(network(data).SerializeToString()), pixels[200:], classes=list(range(10)),
        domain=(0, 1), clip=True, margin=0.2, guarantee="probable", tolerance=TOLERANCE, inner_error=INNER_ERROR,
        keys_limit=keys_limit,
    )  # fmt: skip
    program = model.program
    compiled = time.perf_counter() - start
    start = time.perf_counter()
    client = program.client()
    keys = client.evaluation_keys
    made = time.perf_counter() - start
    server, taken, scores = program.server(keys, threads=threads), [], []
    for image in pixels[:images]:
        sent = client.encrypt(x=model.encode(image.reshape(1, -1))[0])
        start = time.perf_counter()
        answer = server.evaluate(sent)
        taken.append(time.perf_counter() - start)
        scores.append(client.decrypt(answer).reshape(-1))
    clear, found = model.clear(pixels[:images]), np.array(scores)
    every = model.clear(pixels)
    return {
        "n": program.params.n,
        "images": images,
        "compile_seconds": compiled,
        "key_megabytes": program.keys.nbytes(program.params) / 1e6,
        "key_seconds": made,
        "rotation_keys": program.keys.automorphisms,
        "seconds": min(taken),
        "error": float(np.abs(found - clear).max()),
        "agreement": float(np.mean(found.argmax(axis=1) == clear.argmax(axis=1))),
        "accuracy": float(np.mean(found.argmax(axis=1) == digits[:images])),
        "accuracy_lost": float(np.mean(clear.argmax(axis=1) == digits[:images]))
        - float(np.mean(found.argmax(axis=1) == digits[:images])),
        "clear_accuracy": float(np.mean(every.argmax(axis=1) == digits)),
        "correct": bool((found.argmax(axis=1) == clear.argmax(axis=1)).all()),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=20, help="how many of the first 200 test images")
    parser.add_argument("--keys-limit", type=int, default=100_000_000, help="bytes of the evaluation keys; 0: none")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if not 1 <= given.images <= 200:
        parser.error(f"--images {given.images}: from 1 to 200")
    found = run(given.images, given.keys_limit or None, given.threads)
    if given.json:
        print(json.dumps(found))
        return
    show(found)


if __name__ == "__main__":
    main()
