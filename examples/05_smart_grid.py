# SPDX-License-Identifier: Apache-2.0
"""5. Electricity demand forecast on encrypted readings: the application of the HEAWS paper.

A meter encrypts the readings of the last day; a utility that sees none of them computes the next half hour's demand
with a network of quadratic nodes (the group method of data handling, trained here). Readings are real numbers, encoded
as polynomials with a non-integral base: a plaintext modulus of 33 is enough, and one product of ciphertexts is one of
numbers.

    python examples/05_smart_grid.py                      # made-up households, on this processor
    python examples/05_smart_grid.py --data taylor        # England and Wales (needs requirements/examples.txt)
    python examples/05_smart_grid.py --on model:heaws     # HEAWS's co-processor, by its model; rtl:heaws simulates it
    python examples/05_smart_grid.py --on model:heaws-x6 --forecasts 48  # six of them, which share the forecasts
    python examples/05_smart_grid.py --set secure         # 128 bits of security instead of the paper's set
    python examples/05_smart_grid.py --circuit published  # the operations that the paper counts
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from smart_grid import data, encrypted, gmdh

import ringsmith as rs
from ringsmith.runtime.devices import KINDS, OpenDevice, open_device

Array = NDArray[np.float64]

#: The training part ends, the validation part ends; what is left, a third as in the paper, is for the figures.
TRAINING, VALIDATION = 1 / 2, 2 / 3
#: Forecasts of the validation part, about, that a network's encoding is tried on, and the smallest degree of all sets.
TRIED, SMALLEST = 24, 4096
SERIES = {"households": data.households, "taylor": data.taylor}
#: A mean error in per cent that no forecast has whose numbers are still in their encoding.
NONSENSE = 1000.0


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        """End with status 2."""
        self.exit(2, f"error: {message}\n")


def arguments(given: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", choices=SERIES, default="households")
    parser.add_argument("--set", choices=encrypted.SETS, default="published")
    parser.add_argument("--circuit", choices=encrypted.CIRCUITS, default="factored")
    parser.add_argument("--on", default="cpu", help="cpu, model:PRESET or rtl:PRESET")
    parser.add_argument("--forecasts", type=int, default=50, help="how many to compute encrypted (default 50)")
    parser.add_argument("--plot", type=Path, help="write a picture (needs requirements/examples.txt)")
    read = parser.parse_args(given)
    if read.forecasts < 1:
        parser.error(f"--forecasts {read.forecasts}: at least 1")
    if read.on != "cpu" and read.on.partition(":")[0] not in KINDS:
        parser.error(f"--on {read.on}: cpu, model:PRESET or rtl:PRESET")
    return read


@dataclass(frozen=True)
class Models:
    """What is compared: forecasts of rows of inputs."""

    linear: Any
    free: gmdh.Network
    network: gmdh.Network
    cut: int


def trained(rows: data.Rows) -> Models:
    """Train on the first half, choose by the next sixth; `network` in the numbers that encodings stand for.

    Squares and products of numbers that are much alike cancel, and their encodings leave the plaintext's range: of the
    networks with and without them in each layer the best is taken whose forecasts survive.
    """
    training, validation = rows.part(0, TRAINING), rows.part(TRAINING, VALIDATION)
    as_encoded = [data.Rows(encrypted.INPUTS.rounded(part.inputs), part.targets) for part in (training, validation)]
    judged, some = as_encoded[1], validation.inputs[:: max(len(validation.targets) // TRIED, 1)]
    networks = sorted(
        gmdh.trained(*as_encoded, encrypted.rounded),
        key=lambda network: gmdh.mse(judged.targets, network.predict(judged.inputs)),
    )
    network, cut = next(
        (one, cut) for one in networks for cut in encrypted.CUTS if encrypted.survives(one, some, SMALLEST, cut)
    )
    return Models(gmdh.linear(training, validation), gmdh.train(training, validation), network, cut)


@dataclass(frozen=True)
class Measured:
    """Encrypted forecasts, the least noise budget left; a forecast's seconds of server and client.

    Of a device: its cores, how many forecasts they had at a time, cycles of all forecasts, operations that stayed on
    the host, all forecasts together.
    """

    forecasts: Array
    noise_budget: float
    server_s: float
    client_s: float
    cores: int
    at_a_time: int
    cycles: int
    host_operations: int


def measure(
    made: Any, context: Any, network: gmdh.Network, cut: int, inputs: Array, device: OpenDevice | None
) -> Measured:
    """Forecast each row encrypted, as many at a time as the engine takes, and hold each to the clear."""
    native = device.native if device else None
    client = encrypted.Client(context, cut)
    server = encrypted.server(made, context, client.relin_key, native)
    forecasts, budgets, begin = [], [], time.perf_counter()
    server_s = 0.0
    checking = 0.0
    if native is not None:
        native.take_usage()
        native.take_shift()
    rows, at_a_time = inputs[:, network.inputs], server.batch_size
    for first in range(0, len(rows), at_a_time):
        some = rows[first : first + at_a_time].tolist()
        sent = [client.encrypt(row) for row in some]
        start = time.perf_counter()
        answers = list(server.evaluate_many(sent))
        server_s += time.perf_counter() - start
        for row, (answer,) in zip(some, answers, strict=True):
            result = client.decrypt(answer)
            start = time.perf_counter()
            if not np.array_equal(result.polynomial, encrypted.clear(network, row, context.n)):
                raise SystemExit("error: an encrypted forecast is not the one in the clear")
            checking += time.perf_counter() - start
            forecasts.append(result.forecast)
            budgets.append(result.noise_budget)
    client_s = time.perf_counter() - begin - server_s - checking
    count = len(rows)
    used = native.take_usage() if native is not None else {"host_operations": 0}
    shift = native.take_shift() if native is not None else {"cores": [], "cycles": 0}
    return Measured(
        np.array(forecasts),
        min(budgets),
        server_s / count,
        client_s / count,
        len(shift["cores"]),
        min(at_a_time, count),
        shift["cycles"],
        used["host_operations"],
    )


def errors(targets: Array, forecasts: Array) -> list[str]:
    """MSE and MAPE; numbers that left their encoding are anything at all, and no errors."""
    mse, mape = gmdh.mse(targets, forecasts), gmdh.mape(targets, forecasts)
    return [f"{mse:.4f}", f"{mape:.2f} %"] if mape < NONSENSE else ["lost", "lost"]


def table(targets: Array, all_targets: Array, forecasts: dict[str, tuple[Array | None, Array]]) -> None:
    """Print errors on the whole held-out third and on the sample."""
    count = len(targets)
    print(f"{'':34}{'held-out third':>20}{f'its first {count}':>20}")
    print(f"{'':34}{'MSE':>10}{'MAPE':>10}{'MSE':>10}{'MAPE':>10}")
    for name, (whole, sample) in forecasts.items():
        cells = ["", ""] if whole is None else errors(all_targets, whole)
        cells += errors(targets, sample)
        print(f"{name:34}" + "".join(f"{cell:>10}" for cell in cells))


def plot(path: Path, unit: str, lines: dict[str, Array]) -> None:
    """Draw forecasts over demand."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4), layout="constrained")
    axes = figure.subplots()
    for name, values in lines.items():
        axes.plot(np.arange(len(values)) / 2, values, label=name, lw=2 if name == "demand" else 1)
    axes.set(xlabel="hours into the held-out third", ylabel=f"demand in units of {unit}")
    axes.legend()
    figure.savefig(path)


def main(given: list[str] | None = None) -> None:
    """Train, forecast, compare."""
    options = arguments(given)
    series = SERIES[options.data]()
    rows = series.rows
    models = trained(rows)
    network, held_out = models.network, rows.part(VALIDATION, 1)
    sample = data.Rows(held_out.inputs[: options.forecasts], held_out.targets[: options.forecasts])
    print(f"{series.name}: {len(rows.targets):,} rows, in units of {series.unit}")
    widths = "+".join(str(len(layer)) for layer in network.layers)
    print(f"network: {widths} active nodes of {', '.join(series.columns[column] for column in network.inputs)}")

    context = encrypted.SETS[options.set]()
    made = encrypted.program(context, network, options.circuit)
    kind, _, preset = options.on.partition(":")
    device = None if kind == "cpu" else open_device(kind, preset)
    bits = round(context.security.estimated_bits)
    print(f"set: n = {context.n}, log2 QP = {sum(map(np.log2, [*context.moduli, *context.special])):.0f}, "
          f"t = {context.plain_modulus}, {bits} bits of security")  # fmt: skip
    counts = ", ".join(f"{count} {name}" for name, count in made.counts().items())
    print(f"one forecast: {counts}; {made.guarantee['bits']:.0f} bits of noise budget are sure")

    measured = measure(made, context, network, models.cut, sample.inputs, device)
    models_of = {
        "naive (the latest reading)": lambda part: part.naive,
        "linear (ridge)": lambda part: models.linear(part.inputs),
        "GMDH in the clear": lambda part: models.free.predict(part.inputs),
        "the same, encoded afterwards": lambda part: encrypted.encoded(models.free).predict(
            encrypted.INPUTS.rounded(part.inputs)
        ),
        "GMDH in encoded numbers": lambda part: network.predict(encrypted.INPUTS.rounded(part.inputs)),
    }
    forecasts: dict[str, tuple[Array | None, Array]] = {
        name: (model(held_out), model(sample)) for name, model in models_of.items()
    }
    forecasts["GMDH encrypted"] = (None, measured.forecasts)
    table(sample.targets, held_out.targets, forecasts)
    print(f"all {len(sample.targets)} encrypted results are the polynomials in the clear; ", end="")
    print(f"{measured.noise_budget:.0f} bits of noise budget were left")
    print(f"client {measured.client_s * 1e3:.1f} ms a forecast (encoding, encryption, decryption)")
    if device is None:
        print(f"server {measured.server_s * 1e3:.1f} ms a forecast on this processor")
    else:
        count = len(sample.targets)
        ms = measured.cycles / device.clock_mhz / 1e3
        print(f"{measured.host_operations} operations on polynomials stayed on the processor")
        print(f"server {ms / count:.2f} ms a forecast on {device.name}, {measured.at_a_time} at a time on "
              f"{measured.cores} of its cores:", end=" ")  # fmt: skip
        print(f"{measured.cycles:,} cycles for {count} at {device.clock_mhz:g} MHz, {60e3 * count / ms:,.0f} a minute")
    if options.plot:
        lines = {
            "demand": sample.targets,
            "naive": sample.naive,
            "GMDH in the clear": forecasts["GMDH in the clear"][1],
        }
        plot(options.plot, series.unit, lines | {"GMDH encrypted": measured.forecasts})


if __name__ == "__main__":
    try:
        main()
    except rs.RingsmithError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    except ModuleNotFoundError as error:
        print(f"error: no package {error.name}: tools/setup.sh examples installs it", file=sys.stderr)
        sys.exit(2)
