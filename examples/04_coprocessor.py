# SPDX-License-Identifier: Apache-2.0
"""4. The same ciphertexts from a co-processor.

One program, run on this machine and on CoFHEE's co-processor: 8192 coefficients, a tower of 107 bits and one more for
key switching, 250 MHz. The client encrypts and decrypts there too. The same seed gives the same bytes, and the device
says what it did and how long it took at its clock. CoFHEE talks to its host over a serial line, so look at what moving
costs beside computing, and how little of it hides behind work. Keys and tables that a first request wrote to the
device's memory are there for the second.

    python examples/04_coprocessor.py          # the instruction-level model
    python examples/04_coprocessor.py rtl      # the generated RTL under Verilator (needs `make setup-hw`)
"""

from __future__ import annotations

import sys
from typing import Any

import ringsmith as rs
from ringsmith.runtime.engines import open_engine


@rs.kernel(
    scheme="bfv", x=rs.Encrypted(8192, bound=150), y=rs.Encrypted(8192, bound=150), params="cofhee-8192-214"
)  # fmt: skip
def product(x: Any, y: Any) -> Any:
    """The products of two encrypted vectors, number by number."""
    return x * y


def main(kind: str) -> None:
    """Run both ways, compare, and show what the device did."""
    here, there = (rs.run(product, seed="the same seed", engine=name) for name in ("cpu", f"{kind}:cofhee"))
    assert here.correct
    assert there.correct
    assert here.digest == there.digest, "the co-processor's ciphertexts differ"
    print(f"{there.engine} and this processor made the same {there.bytes['ciphertexts_out']:,} bytes of result")

    facts = there.engine_facts
    send, receive, compute = facts["send"], facts["receive"], facts["compute"]
    print(f"offloaded      {', '.join(f'{count} {name}' for name, count in facts['offloaded'].items())}")
    print(f"instructions   {facts['device']['instructions']:10,}; sampling, lifting and scaling stayed here")
    clock = facts["device"]["clock_mhz"]
    print(f"computing      {compute['ms']:10.3f} ms: {compute['cycles']:,} cycles at {clock} MHz")
    moved = send["bytes"] + receive["bytes"]
    print(f"moving         {send['ms'] + receive['ms']:10.3f} ms: {moved:,} bytes over its serial line")
    print(f"hidden         {facts['hidden']['share']:10.1%} of the transfers' cycles, behind work")
    requests(f"{kind}:cofhee")


def requests(name: str) -> None:
    """Serve three requests on a device, and show what each wrote to its memory."""
    engine, program = open_engine(name), product.compile()
    client = program.client(seed="the same seed", sample_data=True)
    server = program.server(client.evaluation_keys, on=engine)
    for number in (1, 2, 3):
        server.evaluate(client.encrypt(x=[number] * 8192, y=[2] * 8192))
        print(f"request {number}      {engine.report(0.0)['send']['written_bytes']:10,} bytes written to its memory")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "model")
