# SPDX-License-Identifier: Apache-2.0
"""Multiply slot by slot modulo each prime: `server_encrypted_compute SIZE`."""

from typing import Any

from layout import Steps, stage, threads
from product import PRIMES, SIZES, messages
from sizes import PAIRS

import ringsmith as rs


def evaluated(servers: list[Any], sent: list[Any]) -> list[Any]:
    """The products modulo each prime."""
    return [server.evaluate(arguments) for server, arguments in zip(servers, sent, strict=True)]


if __name__ == "__main__":
    with stage(SIZES) as folders:
        steps = Steps()
        with steps.step("Loading keys"):
            servers = [
                rs.load(folders.keys / f"{number}.rsp").server(
                    rs.load(folders.keys / f"{number}.keys"), threads=threads()
                )
                for number in range(len(PRIMES))
            ]
        for place in range(len(messages(PAIRS[folders.size]))):
            with steps.step("Reading ciphertexts"):
                sent = [rs.load(folders.upload / f"{number}-{place}.ct") for number in range(len(PRIMES))]
            with steps.step("Encrypted computation"):
                answers = evaluated(servers, sent)
            with steps.step("Writing ciphertexts"):
                for number, answer in enumerate(answers):
                    answer.save(folders.download / f"{number}-{place}.ct")
        steps.again(lambda: evaluated(servers, sent))
        steps.write(folders)
