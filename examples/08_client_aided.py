# SPDX-License-Identifier: Apache-2.0
"""8. The client helps: exact comparisons in the middle of an encrypted computation.

No ring has a comparison. Where the client is there anyway, it can make them: `rs.refresh` sends what is encrypted so
far to the client, which decrypts it, applies any function of numpy and encrypts the result anew. The server keeps its
model to itself and does the linear work; every round starts from fresh ciphertexts, so a small ring is enough: that of
the client ASIC, n = 4096 with primes of 36, 36 and 37 bits.

Two programs read scikit-learn's digits of 8 x 8 pixels, and both give exactly what they give in the clear:

- the 5 nearest neighbours of an image among 256: distances, a sort at the client, a vote;
- a convolution, an exact ReLU with a maximum over 2 x 2 places at the client, and a dense layer.

The client's cryptography runs on this processor, or on the ASIC's model or RTL; the server on this processor.

    python examples/08_client_aided.py         # client on cpu and on model:bfv-client
    python examples/08_client_aided.py rtl     # and on its generated RTL under Verilator (needs `make setup-hw`)
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

import ringsmith as rs
from ringsmith.runtime.engines import open_engine
from ringsmith.runtime.talk import Talk

NEIGHBOURS, POINTS, CLASSES = 5, 256, 10
#: Wire of the time split: an embedded client's radio.
MBIT_PER_S = 10.0


def nearest(distances: Any) -> Any:
    """1 for the nearest, 0 for the others; the first of equal ones."""
    chosen = np.zeros_like(distances)
    chosen[np.argsort(distances, kind="stable")[:NEIGHBOURS]] = 1
    return chosen


def rectified(seen: Any) -> Any:
    """The exact ReLU, the maximum of 2 x 2 places, and a sixteenth of it."""
    filters, height, width = seen.shape
    blocks = np.maximum(seen, 0).reshape(filters, height // 2, 2, width // 2, 2)
    return blocks.max(axis=(2, 4)) // 16


@rs.kernel(
    scheme="bfv", params="bfv-client", standard="2018", image=rs.Encrypted(64, low=0, high=16),
    points=rs.Plain(POINTS, 64, low=0, high=16), labels=rs.Plain(CLASSES, POINTS, low=0, high=1),
)  # fmt: skip
def neighbours(image: Any, points: Any, labels: Any) -> Any:
    """The digit that most of the nearest of the server's points are."""
    # |image - point|^2 less |image|^2, which is the same for all points.
    distances = rs.sum(points * points, axis=1) - 2 * (points @ image)
    votes = labels @ rs.refresh(distances, nearest, low=0, high=1)
    return rs.refresh(votes, np.argmax, low=0, high=CLASSES - 1)


@rs.kernel(
    scheme="bfv", params="bfv-client", standard="2018", image=rs.Encrypted(64, low=0, high=16),
    convolution=rs.Plain(144, 64, bound=2), dense=rs.Plain(CLASSES, 36, bound=63), bias=rs.Plain(CLASSES, bound=2000),
)  # fmt: skip
def network(image: Any, convolution: Any, dense: Any, bias: Any) -> Any:
    """A convolution, an exact ReLU, a dense layer."""
    seen = (convolution @ image).reshape(4, 6, 6)
    hidden = rs.refresh(seen, rectified, low=0, high=8)
    scores = dense @ hidden.reshape(36) + bias
    return rs.refresh(scores, np.argmax, low=0, high=CLASSES - 1)


def edges() -> Any:
    """Four filters of 3 x 3, for edges in four directions, as one matrix from 64 pixels to 4 x 6 x 6 places."""
    across = np.array([[1, 2, 1], [0, 0, 0], [-1, -2, -1]])
    slanted = np.array([[2, 1, 0], [1, 0, -1], [0, -1, -2]])
    matrix = np.zeros((4, 6, 6, 8, 8), dtype=np.int64)
    for number, kernel in enumerate((across, across.T, slanted, slanted[:, ::-1])):
        for row in range(6):
            for column in range(6):
                matrix[number, row, column, row : row + 3, column : column + 3] = kernel
    return matrix.reshape(144, 64)


def trained(images: Any, digits: Any, matrix: Any) -> tuple[Any, Any]:
    """Weights and shifts of the dense layer as integers: least squares on what the layer before gives."""
    seen = np.stack([rectified((matrix @ image).reshape(4, 6, 6)).reshape(36) for image in images])
    wanted = 2 * np.eye(CLASSES)[digits] - 1
    system = np.column_stack([seen, np.ones(len(seen))])
    found = np.linalg.solve(system.T @ system + 10 * np.eye(37), system.T @ wanted).T
    scaled = np.round(found * 63 / np.abs(found[:, :36]).max()).astype(np.int64)
    return scaled[:, :36], scaled[:, 36]


def shown(rounds: rs.Rounds, name: str, arguments: dict[str, Any], expected: Any) -> None:
    """Run with the client's cryptography on an engine; print where the time goes."""
    engine = open_engine(name)
    client = rounds.client(on=engine)
    signature = rounds.signature
    encrypted = {key: arguments[key] for key in signature.names(encrypted=True)}
    plain = {key: arguments[key] for key in signature.names(encrypted=False)}
    talk = Talk(rounds, client)
    assert talk.run(encrypted, plain) == expected
    times, moved = talk.split(), sum(one.sent + one.received for one in talk.rounds)
    line = f"  client on {name:<17}"
    if engine.device is None:
        line += f" client {times['client']:6.1f} ms"
    else:
        facts = engine.report(0.0)
        chip = facts["compute"]["ms"]
        work = ", ".join(f"{count} {task}" for task, count in facts["offloaded"].items())
        line += f" chip {chip:6.2f} ms at {facts['device']['clock_mhz']} MHz ({work})"
    wire = moved * 8e-3 / MBIT_PER_S
    print(f"{line}, wire {wire:.0f} ms ({moved:,} bytes at {MBIT_PER_S:g} Mbit/s), server {times['server']:.1f} ms")


def main(engines: list[str]) -> None:
    """Read one digit both ways, with every engine; then count how many of 899 are right in the clear."""
    images, digits = load_digits(return_X_y=True)
    images = images.astype(np.int64)
    train, test = slice(0, None, 2), slice(1, None, 2)
    matrix = edges()
    dense, bias = trained(images[train], digits[train], matrix)
    points, labels = images[train][:POINTS], np.eye(CLASSES, dtype=np.int64)[:, digits[train][:POINTS]]
    models = {
        neighbours: {"points": points, "labels": labels},
        network: {"convolution": matrix, "dense": dense, "bias": bias},
    }
    image, digit = images[test][0], digits[test][0]
    for kernel, model in models.items():
        arguments = {"image": image, **model}
        expected = kernel.clear(**arguments)
        rounds = kernel.rounds()
        right = np.mean([kernel.function(one, *model.values()) for one in images[test]] == digits[test])
        print(f"{kernel.name}: an encrypted {digit} is read as {expected}; in the clear {right:.1%} of 899 are right")
        switched = rounds.counts["key_switch"]
        print(
            f"  {len(rounds.programs)} rounds at the server, {switched} key switches, n = {rounds.programs[0].params.n}"
        )
        for name in engines:
            shown(rounds, name, arguments, expected)
    print("encrypted as in the clear: correct")


if __name__ == "__main__":
    main(["cpu", "model:bfv-client", *(f"{kind}:bfv-client" for kind in sys.argv[1:])])
